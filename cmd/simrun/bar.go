package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar shows on a terminal how far many runs have got, once they take long.
type bar struct {
	w     io.Writer // nil: not a terminal
	total int
	from  time.Time // when it is first shown
	drawn *progressbar.ProgressBar
}

// patience is how long the bar stays silent.
const patience = time.Second

func newBar(w io.Writer, total int) *bar {
	b := &bar{total: total, from: time.Now().Add(patience)}
	if _, ok := terminal(w); ok && total > 1 {
		b.w = w
	}
	return b
}

// show tells the bar how many runs are done.
func (b *bar) show(done int) {
	if b.w == nil || b.drawn == nil && time.Now().Before(b.from) {
		return
	}
	if b.drawn == nil {
		b.drawn = progressbar.NewOptions(b.total,
			progressbar.OptionSetWriter(b.w),
			progressbar.OptionShowCount(),
			progressbar.OptionSetItsString("runs"),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
	b.drawn.Set(done) // its error is one of a terminal that is gone
}

// clear takes the bar away.
func (b *bar) clear() {
	if b.drawn != nil {
		b.drawn.Clear()
	}
}
