package sim_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/sim"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// serve is a handler that is only a function.
type serve func(s *sim.Server, r sim.Request)

func (f serve) Serve(s *sim.Server, r sim.Request) { f(s, r) }

// echo replies with what it was sent.
var echo = serve(func(_ *sim.Server, r sim.Request) { r.Reply(r.Body) })

// diary notes what happens, each line with its true instant.
type diary struct {
	w     *sim.World
	lines []string
}

func (d *diary) note(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf("%v ", d.w.Now())+fmt.Sprintf(format, args...))
}

// play runs one story to its end and returns what was noted.
func play(t *testing.T, c sim.Config, story func(w *sim.World, d *diary)) []string {
	t.Helper()
	w := sim.New()
	defer w.Close()
	w.Reset(c)
	d := &diary{w: w}
	story(w, d)
	require.NoError(t, w.Run())
	return d.lines
}

// trace is all that a run leaves behind, to the byte.
func trace(w *sim.World) (string, error) {
	err := w.Run()
	text, e := json.Marshal(w.History())
	if e != nil {
		return "", e
	}
	return string(text), err
}
