package trial

import (
	"fmt"
	"strings"
	"time"

	"locksim/clock"
	"locksim/sim"
)

// named is what the lock that a script calls key is called now: a date in it is read
// off the wall clock of p's machine, on which 0 is the begin of 1970-01-01 in UTC.
func named(p *sim.Process, key string) string {
	d, err := cutDate(key)
	if d == nil || err != nil { // of which there is none, since the spec was validated
		return key
	}
	day := time.Unix(0, int64(p.Now(clock.Wall)+d.zone)).UTC().Format(time.DateOnly)
	return d.before + day + d.after
}

// dated is a lock's name with a date in it, in a time zone that far ahead of UTC.
type dated struct {
	before, after string
	zone          time.Duration
}

// cutDate finds the date in key, {date} or {date+7h}; nil where it has none.
func cutDate(key string) (*dated, error) {
	before, rest, found := strings.Cut(key, "{")
	if !found && !strings.Contains(key, "}") {
		return nil, nil
	}
	d := &dated{before: before}
	var word string
	word, d.after, found = strings.Cut(rest, "}")
	offset, ok := strings.CutPrefix(word, "date")
	if ok && offset != "" {
		zone, err := time.ParseDuration(offset)
		d.zone, ok = zone, err == nil && strings.ContainsAny(offset[:1], "+-")
	}
	if !found || !ok || d.zone.Abs() >= 24*time.Hour || strings.ContainsAny(d.before+d.after, "{}") {
		return nil, fmt.Errorf("lock %q: want no braces, or once {date} or {date+7h}, less than 24h off", key)
	}
	return d, nil
}
