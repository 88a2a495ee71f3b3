package scenarios

import (
	"fmt"
	"slices"
	"time"

	"locksim/check"
	"locksim/faults"
	"locksim/models"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/models/sql"
	"locksim/sim"
	"locksim/trial"
)

// day is how long a date lasts.
const day = 24 * time.Hour

// instances are those of a job, each with a script of its own, and a mailer that
// sends what it is asked to, or each mail once.
func instances(idempotent string, scripts ...string) trial.Cast {
	cast := trial.Cast{Resources: []models.Resource{resource.Mailer{Called: "mailer", Idempotent: idempotent == "on"}}}
	for i, script := range scripts {
		cast.Clients = append(cast.Clients, trial.Client{Name: fmt.Sprintf("c%d", i+1), Script: trial.MustScript(script)})
	}
	return cast
}

// ran is what comes of it when these clients do the job, in that order, and nothing
// is wrong with the lock: what the mailer does is the figure, and all but the first
// are duplicates, unless it does each once.
func ran(idempotent, mail string, clients ...string) Expectation {
	e := Expectation{Promise: check.Kept, Belief: check.Exclusive, Progress: check.OK}
	if idempotent == "on" {
		clients = clients[:min(1, len(clients))]
	}
	done := "none"
	for i, c := range clients {
		if i == 0 {
			done = c + " " + mail
			continue
		}
		done += ", " + c + " " + mail
		e.Damage = append(e.Damage, check.DuplicateEffect)
	}
	e.Figures = []Figure{{effects, done}}
	return e
}

// dailyJobTwice is S60 and S61: two instances of a daily job, the timer of one of
// which fires later.
func dailyJobTwice() *Scenario {
	key, work, late, kept := "job", 3*time.Second, 5*time.Second, 25*time.Hour
	s := &Scenario{
		Name: "daily-job-twice", Pair: "jobs",
		Claim:  "a daily job under a lock that is given back runs again where a timer fires later than the job takes; a key named for the date, and kept, lets it run once",
		Claims: []string{"S60", "S61", "T11", "S5"},
	}
	s.Params = []Param{
		choice("key", &key, []string{"job", "date"}, "what the lock is called: the job, and it is given back; the date, and it is kept"),
		milliseconds("work", &work, 0, 10*time.Second, "how long the job takes"),
		milliseconds("late", &late, 0, 20*time.Hour, "how much later c2's timer fires"),
		milliseconds("kept", &kept, 15*time.Second, 48*time.Hour, "how long the key of the date is kept"),
	}
	s.Spec = func() trial.Spec {
		system, script := redis.SetNX{TTL: 30 * time.Second}, "try; work "+work.String()+"; do mailer digest; release"
		if key == "date" {
			system.TTL, script = kept, "try digest-{date}; work "+work.String()+"; do mailer digest"
		}
		spec := trial.Spec{System: system, Cast: instances("off", script, script), Latency: sim.Every(hop), Horizon: late + time.Minute}
		startAt(&spec.Cast.Clients[1], late)
		return spec
	}
	// c1's key is set at 1 ms. Its DEL is sent four hops after the work; in a tie with
	// c2's SET, c2's timer was set first.
	s.Expect = func() Expectation {
		gone, until := work+4*hop, "c1 gives the lock back at"
		if key == "date" {
			gone, until = kept, "the key of the date is kept until"
		}
		runs, why := []string{"c1"}, "skips the job: 1 run"
		if late > gone {
			runs, why = []string{"c1", "c2"}, "has it: 2 runs, one after the other"
		}
		e := ran("off", "digest", runs...)
		e.Granted = runs
		e.Because = fmt.Sprintf("%s %s; c2 asks for it at %s and %s", until, short(gone), short(late), why)
		return e
	}
	s.Control = func() Control { return turned(s.Name, "key", key, "job", "date") }
	return s
}

// dateKeyZone is S61 about what a date is: the key is one key where all instances
// read one date at the instants at which they run.
func dateKeyZone() *Scenario {
	run, zone, late := day-3*time.Second, "+1h", time.Duration(0)
	s := &Scenario{
		Name: "date-key-zone", Pair: "jobs",
		Claim:  "a key named for the date lets the job run once only where all instances are in one time zone, and on one side of midnight",
		Claims: []string{"S61"},
		Also:   []string{"zone=+0h late=3s", "run=12h", "run=18h zone=+7h"},
	}
	s.Params = []Param{
		milliseconds("run", &run, 0, day-time.Millisecond, "when c1 runs, in UTC, which is its time zone"),
		choice("zone", &zone, []string{"+0h", "+1h", "+7h", "-5h"}, "how far the time zone of c2 is ahead"),
		milliseconds("late", &late, 0, time.Hour, "how much later c2 runs"),
	}
	s.Spec = func() trial.Spec {
		const job = "try digest-{date%s}; work 1s; do mailer digest"
		spec := trial.Spec{
			System:  redis.SetNX{TTL: 25 * time.Hour},
			Cast:    instances("off", fmt.Sprintf(job, ""), fmt.Sprintf(job, zone)),
			Latency: sim.Every(hop),
			Horizon: 2 * day,
		}
		startAt(&spec.Cast.Clients[0], run)
		startAt(&spec.Cast.Clients[1], run+late)
		return spec
	}
	s.Expect = func() Expectation {
		ahead, err := time.ParseDuration(zone)
		if err != nil {
			panic(err) // the parameter allows durations alone
		}
		local := run + late + ahead
		runs, why := []string{"c1"}, "one date, one key, 1 run"
		if local < 0 || local >= day { // c1 runs on the first day
			runs, why = []string{"c1", "c2"}, "two dates, two keys, 2 runs"
		}
		e := ran("off", "digest", runs...)
		e.Granted = runs
		const shown = "2006-01-02 15:04:05.999"
		e.Because = fmt.Sprintf("c1 runs at %s by its clock, c2 at %s: %s",
			time.Unix(0, int64(run)).UTC().Format(shown), time.Unix(0, int64(local)).UTC().Format(shown), why)
		return e
	}
	s.Control = func() Control {
		if zone == "+0h" {
			return Control{s.Name, []string{"zone=+1h", "run=" + short(day-3*time.Second)}}
		}
		return Control{s.Name, []string{"zone=+0h", "late=0s"}}
	}
	return s
}

// dailyJobCrash is S62 and S63: what becomes of a run whose instance dies. It mails
// at one second, and needs another for what is left to do.
func dailyJobCrash() *Scenario {
	mark, crash, idempotent := "date-key", 500*time.Millisecond, "off"
	s := &Scenario{
		Name: "daily-job-crash", Pair: "jobs",
		Claim:  "a run that dies under the key of its date is never done; a row in job_runs shows it, and it is done again: all of it, also the mail that had gone out",
		Claims: []string{"S62", "S63", "S64", "S4"},
		Also:   []string{"crash=3s", "mark=released", "mark=released crash=3s", "mark=job-runs crash=1.5s", "mark=job-runs crash=1.5s idempotent=on"},
	}
	s.Params = []Param{
		choice("mark", &mark, []string{"date-key", "released", "job-runs"}, "what tells that the job was begun: a key of the date that is kept, a lock of 10s that is given back, a row that is begun again after 30s"),
		milliseconds("crash", &crash, 10*time.Millisecond, 4*time.Second, "when c1 dies; its run takes 2.004s"),
		choice("idempotent", &idempotent, []string{"off", "on"}, "whether the mailer sends each mail once"),
	}
	s.Spec = func() trial.Spec {
		const begin, run, end = "try digest-{date}", "; work 1s; do mailer digest; work 1s", "; release digest-{date}"
		var system models.System
		script := begin + run + end
		switch mark {
		case "date-key":
			system, script = redis.SetNX{TTL: 25 * time.Hour}, begin+run
		case "released":
			system, script = redis.SetNX{TTL: 10 * time.Second}, "try"+run+"; release"
		case "job-runs":
			system = sql.JobRuns{Retake: 30 * time.Second}
		}
		return trial.Spec{
			System:   system,
			Cast:     instances(idempotent, script, "until 5s; "+script, "until 1m; "+script),
			Schedule: faults.Schedule{{Anchor: faults.At(crash), Action: faults.KillProcess{Process: "c1"}}},
			Latency:  sim.Every(hop),
			Horizon:  2 * time.Minute,
		}
	}
	s.Expect = func() Expectation { return outlivedBy(mark, crash, idempotent) }
	s.Control = func() Control { return turned(s.Name, "mark", mark, "date-key", "job-runs") }
	return s
}

// outlivedBy: c1 asks the mailer at 1.002 and gives the lock back, or ends its row,
// at 2.004, unless it is dead by then. c2 comes at 5 s and c3 at a minute.
func outlivedBy(mark string, crash time.Duration, idempotent string) Expectation {
	const mails, ends = 2*hop + time.Second, 4*hop + 2*time.Second
	var runs, others []string
	why := fmt.Sprintf("c1 dies before its mail of %s", short(mails))
	if crash > mails {
		runs, why = []string{"c1"}, fmt.Sprintf("c1 dies between its mail of %s and its end at %s", short(mails), short(ends))
	}
	ended := crash > ends
	if ended {
		why = fmt.Sprintf("c1 dies when all is done, at %s", short(ends))
	}
	switch {
	case mark == "date-key":
		why += "; the others find the key of the date, and what c1 has not done nobody does"
	case mark == "released" && ended:
		others, why = []string{"c2", "c3"}, why+", and has given the lock back: so c2 and c3 do it too"
	case mark == "released":
		others, why = []string{"c3"}, why+": its key stands at 5s and is gone at 1m"
	case ended:
		why += ", and its row says so"
	default:
		others, why = []string{"c3"}, why+": its row, without an end, is 5s old for c2, and a minute for c3, which begins it again"
	}
	e := ran(idempotent, "digest", slices.Concat(runs, others)...)
	e.Granted = append([]string{"c1"}, others...)
	e.Because = why
	return e
}
