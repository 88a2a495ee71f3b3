package scenarios

import (
	"fmt"
	"strings"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/resource"
	"locksim/models/sql"
	"locksim/sim"
	"locksim/trial"
)

// rowSystem is the lock that takes a row so, or, for "lease", a lock of its own
// beside the row.
func rowSystem(by string) models.System {
	if by == "lease" {
		return sql.Lease{}
	}
	system := sql.Row{Once: true}
	mustText(&system.By, by)
	return system
}

// claimRow is S2 and T25: two claim one pending row.
func claimRow() *Scenario {
	by, pause := "conditional", 14*time.Second
	s := &Scenario{
		Name:   "claim-row",
		Pair:   "database",
		Claim:  "a row that is claimed by a condition, or locked in a transaction, is done once, however long its worker is paused; under a lease it is done twice",
		Claims: []string{"S2", "T25"},
		Also:   []string{"by=for-update", "by=skip-locked"},
	}
	s.Params = []Param{
		choice("by", &by, []string{"conditional", "for-update", "skip-locked", "lease"}, "what keeps the second worker off"),
		milliseconds("pause", &pause, 0, 20*time.Second, "how long c1 is paused before it does the task"),
	}
	s.Spec = func() trial.Spec {
		mailer := resource.Mailer{Called: "mailer"}
		return trial.Spec{
			System: rowSystem(by),
			Cast: guarding(mailer, "try task-1; work 1s; do mailer task-1; release task-1",
				"until 12s; try task-1; work 1s; do mailer task-1; release task-1"),
			Schedule: pauseBefore("do", "gc", pause),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
	}
	s.Expect = func() Expectation {
		e := untaken("at 12s the row is c1's, or done: c2 changes or finds none")
		if by != "lease" {
			return e
		}
		end1, accepted2 := 4*hop+time.Second+pause+2*hop, 12*time.Second+4*hop
		e.Overlap = max(0, min(end1, accepted2+time.Second+2*hop)-accepted2)
		e.Belief = overlapping(e.Overlap)
		e.Damage, e.Granted = []string{check.DuplicateEffect}, []string{"c1", "c2"}
		e.Because = fmt.Sprintf("c1's lease is over behind %s or given back before, and nothing says that the task is done; c1 believes until %s, c2 from %s",
			short(leased(0, 10*time.Second)), short(end1), short(accepted2))
		return e
	}
	s.Control = func() Control {
		if by == "lease" {
			return Control{"claim-row", []string{"by=conditional"}}
		}
		return Control{"claim-row", []string{"by=lease"}}
	}
	return s
}

// splitQueue is S3: two workers and three jobs.
func splitQueue() *Scenario {
	by := "skip-locked"
	s := &Scenario{
		Name:   "queue-skip-locked",
		Pair:   "database",
		Claim:  "SKIP LOCKED splits a queue among workers who wait for nobody; without it one works and the others wait",
		Claims: []string{"S3"},
	}
	s.Params = []Param{choice("by", &by, []string{"skip-locked", "for-update"}, "how a worker takes a job")}
	s.Spec = func() trial.Spec {
		var jobs []string
		for i := range 3 {
			jobs = append(jobs, fmt.Sprintf("try job-%d; work 1s; do mailer job-%[1]d; release job-%[1]d", i+1))
		}
		script := strings.Join(jobs, "; ")
		return trial.Spec{
			System: rowSystem(by),
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Mailer{Called: "mailer"}},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript(script)},
					{Name: "c2", Script: trial.MustScript("until 200ms; " + script)},
				},
			},
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	// A job takes 1.010 s: BEGIN, SELECT, the work, its effect, UPDATE, COMMIT. One that
	// is skipped takes BEGIN, SELECT and ROLLBACK.
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
		if by == "skip-locked" {
			e.Granted, e.Longest = []string{"c1", "c2", "c1"}, 6*hop
			e.Because = "each goes on to the first job that is neither locked nor done, and is told of any other within six hops"
			return e
		}
		e.Granted, e.Longest = []string{"c1", "c1", "c1"}, time.Second+10*hop
		e.Because = "c2 waits for each job until c1 has done it, and asks for the next two hops after c1; a job takes 1.010s"
		return e
	}
	s.Control = func() Control { return turned("queue-skip-locked", "by", by, "skip-locked", "for-update") }
	return s
}

// sameDatabase is S58: where the work is in the database, a transaction does what
// no lock can.
func sameDatabase() *Scenario {
	lock, pause := "transaction", 14*time.Second
	s := &Scenario{
		Name:   "same-database",
		Pair:   "database",
		Claim:  "where lock and work are in one database, a transaction loses no update; a lease beside it does",
		Claims: []string{"S58", "S2", "T25", "T21"},
		Also:   []string{"lock=version"},
	}
	s.Params = []Param{
		choice("lock", &lock, []string{"transaction", "lease", "version"}, "what keeps c2 off: FOR UPDATE in the transaction of the work, a lease, a lease and WHERE version = :version"),
		milliseconds("pause", &pause, 0, 20*time.Second, "how long c1 is paused between reading and writing"),
	}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			System: sql.Lease{},
			Cast: guarding(document("none"), "acquire; read doc; work 1s; write doc; release",
				"until 3.0005s; acquire; read doc; work 1s; write doc; release"),
			Schedule: pauseBefore("write", "gc", pause),
			Latency:  sim.Every(hop),
			Horizon:  time.Minute,
		}
		switch lock {
		case "transaction":
			spec.System = sql.Row{}
			spec.Cast.Resources = []models.Resource{sql.Documents{Called: "doc", Transaction: true}}
		case "version":
			spec.Cast.Resources = []models.Resource{document("version")}
		}
		return spec
	}
	s.Expect = func() Expectation { return readAndWritten(lock, pause) }
	s.Control = func() Control {
		if lock == "transaction" {
			return Control{"same-database", []string{"lock=lease"}}
		}
		return Control{"same-database", []string{"lock=transaction"}}
	}
	return s
}

// readAndWritten: c1 has read by 6 ms, and writes at 1.007 and the pause. c2 asks
// every 104 ms, half a millisecond beside c1, and gets the lease when c1's is over or
// given back.
func readAndWritten(lock string, pause time.Duration) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK, Granted: []string{"c1", "c2"}}
	if lock == "transaction" {
		e.Because = "c2's SELECT FOR UPDATE waits until c1 has committed what it wrote"
		return e
	}
	write1 := 4*hop + 2*hop + time.Second + pause + hop
	end1 := write1 + hop
	free := min(leased(0, 10*time.Second)+hop, end1+hop)
	const every, from = 104 * time.Millisecond, 3*time.Second + hop/2
	asked := from
	for asked+3*hop < free {
		asked += every
	}
	accepted2 := asked + 4*hop
	read2, write2 := accepted2+hop, accepted2+2*hop+time.Second+hop
	e.Overlap = max(0, min(end1, write2+hop)-accepted2)
	e.Belief = overlapping(e.Overlap)
	e.Because = fmt.Sprintf("c1 reads at 5ms and writes at %s; c2 has the lease from %s on, reads at %s and writes at %s", short(write1), short(accepted2), short(read2), short(write2))
	late := "c1" // who writes what the other has not read
	if write1 < write2 {
		late = "c2"
	}
	switch {
	case write1 < read2:
	case lock == "version":
		e.Rejected = []string{late}
	default:
		e.Damage = []string{check.LostUpdate}
	}
	return e
}

// jobRuns is S63 and S62: a table of runs, with a primary key and a date when each
// has ended.
func jobRuns() *Scenario {
	crash, retake := "on", "30s"
	s := &Scenario{
		Name:   "job-runs",
		Pair:   "jobs",
		Claim:  "a row for each run lets it be begun once, and shows one that was begun and not ended, which can be begun again",
		Claims: []string{"S63"},
		Also:   []string{"crash=off"},
	}
	s.Params = []Param{
		choice("crash", &crash, []string{"on", "off"}, "whether c1 dies in its run"),
		choice("retake", &retake, []string{"30s", "never"}, "how old a run that has not ended must be to be begun again"),
	}
	s.Spec = func() trial.Spec {
		system := sql.JobRuns{}
		if retake != "never" {
			system.Retake = 30 * time.Second
		}
		const job = "try digest-0101; work 1s; do mailer digest-0101; release digest-0101"
		spec := trial.Spec{
			System: system,
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Mailer{Called: "mailer"}},
				Clients: []trial.Client{
					{Name: "c1", Script: trial.MustScript(job)},
					{Name: "c2", Script: trial.MustScript("until 5s; " + job)},
					{Name: "c3", Script: trial.MustScript("until 1m; look digest-0101; " + job)},
				},
			},
			Latency: sim.Every(hop),
			Horizon: 2 * time.Minute,
		}
		if crash == "on" {
			spec.Schedule = faults.MustParse("at 500ms  kill c1")
		}
		return spec
	}
	s.Expect = func() Expectation {
		e := untaken("c1 has done the run; the others find a duplicate key, and a date when it ended")
		switch {
		case crash == "off":
		case retake == "never":
			e.Because = "the others find a duplicate key: the run is never done, and c3 sees that it was begun"
		default:
			e.Granted = []string{"c1", "c3"}
			e.Because = "c2 finds a duplicate key and a run of 5s; c3 one of a minute without an end, and does it"
		}
		return e
	}
	s.Control = func() Control {
		if crash == "off" {
			return Control{"job-runs", []string{"crash=on", "retake=30s"}}
		}
		return turned("job-runs", "retake", retake, "never", "30s")
	}
	return s
}

// redelivery is T25: a message comes a second time.
func redelivery() *Scenario {
	unique := "on"
	s := &Scenario{
		Name:   "redelivery",
		Pair:   "jobs",
		Claim:  "a message that is delivered again has one effect where its id is unique in the database of its effect",
		Claims: []string{"T25"},
	}
	s.Params = []Param{choice("unique", &unique, []string{"on", "off"}, "whether processed(id) is UNIQUE")}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			Cast:    guarding(sql.Inbox{Called: "inbox", Unique: unique == "on"}, "do inbox message-1", "until 1s; do inbox message-1"),
			Latency: sim.Every(hop),
			Horizon: time.Minute,
		}
	}
	s.Expect = func() Expectation {
		e := Expectation{Promise: check.None, Belief: check.None, Progress: check.OK, Because: "the second INSERT is a duplicate key, and its transaction with the effect is undone"}
		if unique == "off" {
			e.Damage = []string{check.DuplicateEffect}
			e.Because = "nothing remembers the first"
		}
		return e
	}
	s.Control = func() Control { return turned("redelivery", "unique", unique, "on", "off") }
	return s
}
