package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// seconds is an instant in seconds with three decimals, and with more only where
// it takes more to be exact: 9.898, 9.8985. The causes in a verdict write it so
// too.
func seconds(t time.Duration) string {
	frac := strconv.FormatInt(int64(time.Second+t%time.Second), 10)[1:]
	return strconv.FormatInt(int64(t/time.Second), 10) + "." + frac[:3] + strings.TrimRight(frac[3:], "0")
}

// span is a length of time: 102 ms below a second, 7.888 s from there on.
func span(d time.Duration) string {
	if d == 0 || d >= time.Second {
		return seconds(d) + " s"
	}
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64) + " ms"
}

// and lists words as a sentence does: c1, c2 and c3.
func and(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
}

// count is n of a thing: 1 run, 2 runs.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
