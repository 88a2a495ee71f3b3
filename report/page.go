package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Options are how a text is laid out. The zero value is plain text.
type Options struct {
	// Color lets the text carry ANSI colours. Without them it is the same text.
	Color bool
	// Width is how many columns a line may take; 0 means [DefaultWidth].
	Width int
}

// DefaultWidth is how many columns a line takes at most, unless a single word is
// longer.
const DefaultWidth = 100

// paint is a colour as the number of an ANSI escape; 0 is none.
type paint int

const (
	noPaint paint = 0
	bold    paint = 1
	dim     paint = 2
	red     paint = 31
	green   paint = 32
	yellow  paint = 33
)

// page is the writer of a text. It keeps the first error, so that one check at
// the end is enough.
type page struct {
	w     io.Writer
	color bool
	width int
	err   error
}

func newPage(w io.Writer, o Options) *page {
	p := &page{w: w, color: o.Color, width: o.Width}
	if p.width == 0 {
		p.width = DefaultWidth
	}
	return p
}

// in is text in a colour.
func (p *page) in(c paint, text string) string {
	if !p.color || c == noPaint || text == "" {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", int(c), text)
}

// line writes the pieces as one line, without blanks at its end.
func (p *page) line(pieces ...string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, strings.TrimRight(strings.Join(pieces, ""), " ")+"\n")
	}
}

// paragraph writes text in as many lines as it takes.
func (p *page) paragraph(c paint, text string) {
	for _, line := range wrap(text, p.width) {
		p.line(p.in(c, line))
	}
}

// wrap breaks text between words into lines of at most width columns.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && cells(line)+1+cells(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// cells is how many columns s takes. All that is printed here is one column a
// rune.
func cells(s string) int { return utf8.RuneCountInString(s) }

// pad fills s with blanks up to n columns.
func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-cells(s)))
}
