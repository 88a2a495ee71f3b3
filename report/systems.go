package report

import (
	"io"

	"locksim/models"
	"locksim/models/catalog"
)

// Systems writes what has to be known of each lock system.
func Systems(w io.Writer, all []catalog.Entry[models.System], o Options) error {
	p := newPage(w, o)
	for i, e := range all {
		if i > 0 {
			p.line()
		}
		p.line(p.in(bold, e.Name))
		p.entry("token", noPaint, "", e.About.Token)
		p.entry("clock", noPaint, "", e.About.Clock)
		p.entry("restart", noPaint, "", e.About.Restart)
		p.entry("assumes", noPaint, "", e.About.Assumes)
	}
	return p.err
}

// SystemsJSON writes a line for each lock system: an object with its name, and
// what has to be known of it.
func SystemsJSON(w io.Writer, all []catalog.Entry[models.System]) error {
	for _, e := range all {
		err := writeLine(w, struct {
			Name    string `json:"name"`
			Token   string `json:"token"`
			Clock   string `json:"clock"`
			Restart string `json:"restart"`
			Assumes string `json:"assumes"`
		}{e.Name, e.About.Token, e.About.Clock, e.About.Restart, e.About.Assumes})
		if err != nil {
			return err
		}
	}
	return nil
}
