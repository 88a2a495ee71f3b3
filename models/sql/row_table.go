package sql

import (
	"strconv"
	"time"

	"locksim/history"
)

// task is a row of the table tasks(id PRIMARY KEY, state, owner). Every row is there
// from the start, pending.
type task struct{ state, owner string }

// run is a row of the table job_runs(job, day, started_at, finished_at, attempt),
// whose primary key is the job and the day.
type run struct {
	started, finished int64 // 0 for NULL
	attempt           int64
	by                string
}

func (r run) value() string { return r.by + "#" + strconv.FormatInt(r.attempt, 10) }

// The statements on tasks and job_runs.
type (
	// SelectTask is SELECT … FROM tasks WHERE id = :id AND state = 'pending' FOR UPDATE,
	// with Skip … SKIP LOCKED. The row is locked until the transaction ends. Text is by
	// what the record knows that.
	SelectTask struct {
		ID   string
		Skip bool
	}
	// TakeTask is UPDATE tasks SET state = 'running', owner = :owner WHERE id = :id AND
	// state = 'pending'.
	TakeTask struct{ ID, Owner string }
	// FinishTask is UPDATE tasks SET state = :state WHERE id = :id, and for a task that
	// was taken … AND owner = :owner.
	FinishTask struct{ ID, Owner, State string }
	// InsertRun is INSERT INTO job_runs(job, day, started_at) VALUES (…, now()). A run
	// that is there already is a duplicate key.
	InsertRun struct{ Run string }
	// RetakeRun is UPDATE job_runs SET started_at = now(), attempt = attempt + 1 WHERE …
	// AND finished_at IS NULL AND started_at < now() - :after.
	RetakeRun struct {
		Run   string
		After time.Duration
	}
	// FinishRun is UPDATE job_runs SET finished_at = now() WHERE … AND attempt =
	// :attempt AND finished_at IS NULL.
	FinishRun struct {
		Run     string
		Attempt int64
	}
	// SelectRun is SELECT … FROM job_runs WHERE … AND finished_at IS NULL: a run that
	// was begun and not ended, which is the alarm.
	SelectRun struct{ Run string }
)

// Label is the statement.
func (s *SelectTask) Label() string {
	if s.Skip {
		return "SELECT FOR UPDATE SKIP LOCKED"
	}
	return "SELECT FOR UPDATE"
}

// Label is the statement.
func (*TakeTask) Label() string { return "UPDATE tasks" }

// Label is the statement.
func (*FinishTask) Label() string { return "UPDATE tasks" }

// Label is the statement.
func (*InsertRun) Label() string { return "INSERT job_runs" }

// Label is the statement.
func (*RetakeRun) Label() string { return "UPDATE job_runs" }

// Label is the statement.
func (*FinishRun) Label() string { return "UPDATE job_runs" }

// Label is the statement.
func (*SelectRun) Label() string { return "SELECT job_runs" }

const (
	pendingTask = "pending"
	runningTask = "running"
	doneTask    = "done"
)

func isPending(t task) bool { return t.state == pendingTask }

// task makes sure that the row is there.
func (x *running) task(id string) *table {
	t := &x.db.tables.tasks
	if r := t.place(id); len(r.versions) == 0 {
		r.versions = append(r.versions, version{0, task{state: pendingTask}})
	}
	return t
}

func (s *SelectTask) run(x *running) Result {
	res := selectForUpdate(x, x.task(s.ID), s.ID, isPending, s.Skip)
	if res.Rows == 1 {
		x.db.grants++
		res.Text = x.s.name + "/" + strconv.Itoa(x.db.grants)
		e := history.Event{Kind: history.Freed, Lock: s.ID, Value: res.Text, Why: history.FreedDeleted, Peer: x.request.From()}
		x.record(e)
		x.tx.doubts = append(x.tx.doubts, e)
	}
	return res
}

func (s *TakeTask) run(x *running) Result {
	return update(x, x.task(s.ID), s.ID, isPending, func(task) task { return task{runningTask, s.Owner} })
}

func (s *FinishTask) run(x *running) Result {
	mine := func(t task) bool { return s.Owner == "" || t.owner == s.Owner }
	return update(x, x.task(s.ID), s.ID, mine, func(t task) task {
		if t.owner != "" {
			x.record(history.Event{Kind: history.Freed, Lock: s.ID, Value: t.owner, Why: history.FreedDeleted, Peer: x.request.From()})
		}
		return task{state: s.State}
	})
}

func (s *InsertRun) run(x *running) Result {
	r := run{started: x.date(), attempt: 1, by: x.request.From()}
	res := insert(x, &x.db.tables.runs, s.Run, r, false)
	res.Number, res.Text = r.attempt, r.value()
	return res
}

func (s *RetakeRun) run(x *running) Result {
	var taken run
	dead := func(r run) bool { return r.finished == 0 && r.started < x.date()-s.After.Milliseconds() }
	res := update(x, &x.db.tables.runs, s.Run, dead, func(r run) run {
		x.record(history.Event{Kind: history.Freed, Lock: s.Run, Value: r.value(), Why: history.FreedExpired})
		taken = run{started: x.date(), attempt: r.attempt + 1, by: x.request.From()}
		return taken
	})
	res.Number, res.Text = taken.attempt, taken.value()
	return res
}

func (s *FinishRun) run(x *running) Result {
	mine := func(r run) bool { return r.attempt == s.Attempt && r.finished == 0 }
	return update(x, &x.db.tables.runs, s.Run, mine, func(r run) run {
		x.record(history.Event{Kind: history.Freed, Lock: s.Run, Value: r.value(), Why: history.FreedDeleted, Peer: x.request.From()})
		r.finished = x.date()
		return r
	})
}

func (s *SelectRun) run(x *running) Result {
	r, ok := get[run](x, &x.db.tables.runs, s.Run)
	if !ok || r.finished != 0 {
		return Result{}
	}
	return Result{Rows: 1, Number: r.attempt, Text: r.value()}
}
