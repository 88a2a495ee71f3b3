package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Param is a parameter of a scenario.
type Param struct {
	Name    string
	Default string
	// Allowed says which values it takes.
	Allowed string
	// About says what it is, in a few words.
	About string
	// Value is its present value's canonical text.
	Value func() string
	set   func(string) error
}

// most is the greatest duration that a parameter takes: far beyond any lock, and
// small enough that sums of a few cannot overflow.
const most = 1000 * time.Hour

// duration is a parameter bound to v, from least to most.
func duration(name string, v *time.Duration, least time.Duration, about string) Param {
	return durations(name, v, least, most, 1, about)
}

// milliseconds is a parameter bound to v that takes whole milliseconds, from least
// to greatest.
func milliseconds(name string, v *time.Duration, least, greatest time.Duration, about string) Param {
	return durations(name, v, least, greatest, time.Millisecond, about)
}

func durations(name string, v *time.Duration, least, greatest, unit time.Duration, about string) Param {
	allowed := fmt.Sprintf("a duration from %s to %s", short(least), short(greatest))
	if unit > 1 {
		allowed += fmt.Sprintf(" in steps of %s", short(unit))
	}
	usual := short(*v)
	return Param{
		Name: name, Default: usual, Allowed: allowed, About: about,
		Value: func() string { return short(*v) },
		set: func(text string) error {
			d, err := time.ParseDuration(text)
			if err != nil || d < least || d > greatest || d%unit != 0 {
				return fmt.Errorf("%s=%s: want %s, such as %s", name, text, allowed, usual)
			}
			*v = d
			return nil
		},
	}
}

// choice is a parameter bound to v, one of a few words.
func choice(name string, v *string, words []string, about string) Param {
	allowed := strings.Join(words, "|")
	return Param{
		Name: name, Default: *v, Allowed: allowed, About: about,
		Value: func() string { return *v },
		set: func(text string) error {
			if !slices.Contains(words, text) {
				return fmt.Errorf("%s=%s: want one of %s", name, text, strings.Join(words, ", "))
			}
			*v = text
			return nil
		},
	}
}

// short is d without the zero minutes and seconds that String writes: 1h, not
// 1h0m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
