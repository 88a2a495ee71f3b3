package report

import (
	"io"
	"strings"
	"time"

	"locksim/history"
)

// Timeline writes what happened in h as a person tells it: a line for each thing
// that matters to the lock, with the true time in seconds, a mark where a fault
// begins (!) or is over (+), a lane for each client that shows whether it believes
// that it holds the lock, who did it, and what.
//
// Lanes of two clients that believe at the same instant are filled; a belief that
// outlives its term is dashed, or shaded. The messages are left out, what nodes
// say is summed up, and a client that polls takes one line.
func Timeline(w io.Writer, h *history.History, o Options) error {
	p := newPage(w, o)
	p.timeline(h)
	return p.err
}

func (p *page) timeline(h *history.History) {
	l := newLanes(h)
	lines := tell(h, l)
	if len(lines) == 0 {
		p.line("(nothing happened)")
		return
	}
	labels := l.labels()
	whole, frac, who := columns(lines)
	lane := cells(strings.Join(labels, " "))
	indent := whole + 1 + frac + len(" ! ") + lane + 2 + who + 2
	room := max(p.width-indent, 20)

	p.line(p.in(dim, pad(strings.Repeat(" ", whole-1)+"time", whole+1+frac+len(" ! "))+
		strings.Join(labels, " ")+"  "+pad("who", who)+"  what   "+legend(l)))
	for _, ln := range lines {
		at, mark := clock(ln.at, whole, frac), ln.mark.text(p)
		for i, text := range wrap(ln.what, room) {
			if i > 0 {
				at, mark, ln.who = strings.Repeat(" ", whole+1+frac), " ", ""
			}
			p.line(at, " ", mark, " ", l.row(p, labels, ln.pos, ln.at), "  ", pad(ln.who, who), "  ", p.in(ln.paint(), text))
		}
	}
}

// columns are the widths of the parts before and behind the point of the times,
// and of who.
func columns(lines []line) (whole, frac, who int) {
	whole, who = len("time")-1, len("who")
	for _, ln := range lines {
		a, b, _ := strings.Cut(seconds(ln.at), ".")
		whole, frac, who = max(whole, len(a)), max(frac, len(b)), max(who, cells(ln.who))
	}
	return whole, frac, who
}

// clock is an instant with its point in a fixed column.
func clock(t time.Duration, whole, frac int) string {
	a, b, _ := strings.Cut(seconds(t), ".")
	return strings.Repeat(" ", whole-len(a)) + a + "." + pad(b, frac)
}

// legend explains what the lanes show.
func legend(l *lanes) string {
	text := "(" + holds + " believes"
	if len(l.windows) > 0 {
		text += ", " + full + " with another"
	}
	for i := range l.spells {
		if s := &l.spells[i]; s.ended > s.until(s.to) {
			text += ", " + expired + shade + " past its term"
			break
		}
	}
	return text + ", ! fault, + over)"
}
