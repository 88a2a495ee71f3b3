package sql

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"locksim/models"
	"locksim/sim"
)

// JobRuns is the table job_runs(job, day, started_at, finished_at), whose primary
// key lets each run be begun once: who inserts the row does the job, whoever comes
// later finds a duplicate key, and a row without finished_at tells of a run that was
// begun and not ended. The key of the lock is the job and its day; a release ends the
// run. Its server is called "db".
type JobRuns struct {
	Dialect Dialect `yaml:"dialect,omitempty"`
	// Retake is how long after its begin a run that has not ended may be begun again;
	// 0, by default, for never.
	Retake time.Duration `yaml:"retake,omitempty"`
	// Timeout is how long a client waits for an answer; 0 for without end.
	Timeout time.Duration `yaml:"timeout,omitempty"`
}

// About is what has to be known of it.
func (JobRuns) About() models.About {
	return models.About{
		Token:   "how often the run was begun, by the row",
		Clock:   "the database's wall clock, and only to begin a run again",
		Restart: "everything that was committed",
		Assumes: "everybody takes the same day for the same run; a run that is begun again had died",
	}
}

// Open puts the database into w.
func (o JobRuns) Open(w *sim.World) (models.Lock, error) {
	var wrong error
	if o.Retake < 0 {
		wrong = fmt.Errorf("retake %v: want 0, for never, or more", o.Retake)
	}
	options := Options{Dialect: o.Dialect}
	if err := cmp.Or(wrong, options.complete(), checkTimeout(&o.Timeout)); err != nil {
		return nil, fmt.Errorf("job_runs: %w", err)
	}
	return &jobRuns{JobRuns: o, server: open(w, "db", options).server, drivers: drivers{reconnect: Silent, timeout: o.Timeout}}, nil
}

type jobRuns struct {
	JobRuns
	server  *sim.Server
	drivers drivers
}

func (l *jobRuns) exec(p *sim.Process, stmt statement) (Result, error) {
	return l.drivers.exec(p, l.server, 0, stmt, 0)
}

// Acquire inserts the row, or begins a run again that has died.
func (l *jobRuns) Acquire(p *sim.Process, key string) (models.Grant, error) {
	anchor := p.World().Now()
	res, err := l.exec(p, &InsertRun{key})
	if err == nil && res.Err != nil && l.Retake > 0 {
		anchor = p.World().Now()
		res, err = l.exec(p, &RetakeRun{key, l.Retake})
	}
	switch {
	case err != nil:
		return models.Grant{}, err
	case res.Err != nil:
		return models.Grant{}, models.Refused(res.Err.Error())
	case res.Rows == 0:
		return models.Grant{}, models.ErrHeld
	}
	g := models.Grant{Value: res.Text, Token: res.Number, Votes: []string{l.server.Name()}}
	if l.Retake > 0 {
		g.Term, g.Allowance, g.Anchor = l.Retake, allowance(l.Retake), anchor
	}
	return g, nil
}

// Release ends the run.
func (l *jobRuns) Release(p *sim.Process, key string, g models.Grant) error {
	return one(l.exec(p, &FinishRun{key, g.Token}))
}

// Holder is who has begun the run and not ended it: the alarm of a job that is late.
func (l *jobRuns) Holder(p *sim.Process, key string) (string, error) {
	res, err := l.exec(p, &SelectRun{key})
	if err == nil && res.Err != nil {
		err = errors.New(res.Err.Error())
	}
	return res.Text, err
}
