package scenarios

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"locksim/faults"
	"locksim/history"
	"locksim/models"
	"locksim/models/lease"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/sim"
	"locksim/trial"
)

// splitVote is S32 and T26: clients ask five nodes at once, and each node hears
// them in an order of its own.
func splitVote() *Scenario {
	clients := "3"
	s := &Scenario{
		Name: "redlock-split-vote", Pair: "overkill",
		Claim:  "clients that ask at the same time split the votes, and nobody wins at the first try",
		Claims: []string{"S32", "T17", "T26"},
	}
	s.Params = []Param{choice("clients", &clients, []string{"2", "3", "5"}, "how many ask at once")}
	n := func() int { return int(clients[0] - '0') }
	s.Spec = func() trial.Spec {
		spec := trial.Spec{System: redis.Redlock{Sends: redis.Parallel}}
		for i := range n() {
			spec.Cast.Clients = append(spec.Cast.Clients, trial.Client{Name: fmt.Sprintf("c%d", i+1), Script: trial.MustScript("try; release")})
		}
		// So many delays that two messages hardly ever arrive at once.
		for us := range time.Duration(4000) {
			spec.Latency.Default = append(spec.Latency.Default, time.Millisecond+us*time.Microsecond)
		}
		return spec
	}
	s.Share = func() Share {
		return Share{
			Of: "nobody has a majority at the first try", Hit: nobodyBelieved,
			Runs: 2000, Want: noWinner(n()), Tolerance: fourSigma(noWinner(n()), 2000),
			Because: fmt.Sprintf("1 - n x P(at least 3 of 5 nodes hear one of n = %d first), within four standard deviations", n()),
		}
	}
	s.Control = func() Control { return turned("redlock-split-vote", "clients", clients, "2", "3") }
	return s
}

// noWinner is the chance that none of n clients is the first at three of five
// nodes or more, if each node hears them in an order of its own.
func noWinner(n int) float64 {
	p := 1 / float64(n)
	win := 10*math.Pow(p, 3)*math.Pow(1-p, 2) + 5*math.Pow(p, 4)*(1-p) + math.Pow(p, 5)
	return 1 - float64(n)*win
}

func nobodyBelieved(r *trial.Result) bool {
	for i := range r.History.Events {
		if r.History.Events[i].Kind == history.Believe {
			return false
		}
	}
	return true
}

// everysecPowerLoss is S34: with a sync every second, a loss of power within the
// second after the SET loses the key half of the time.
func everysecPowerLoss() *Scenario {
	persistence := "everysec"
	s := &Scenario{
		Name: "everysec-power-loss", Pair: "restart",
		Claim:  "with a sync every second, a loss of power within the next second loses about half of the locks",
		Claims: []string{"S34", "A10"},
	}
	s.Params = []Param{choice("persistence", &persistence, []string{"none", "everysec", "always"}, "what the node keeps on its disk")}
	s.Spec = func() trial.Spec {
		system := redis.SetNX{TTL: time.Minute}
		mustText(&system.Persistence, persistence)
		return trial.Spec{
			System:  system,
			Cast:    trial.Cast{Clients: []trial.Client{{Name: "c1", Script: trial.MustScript("acquire; work 10s; release")}}},
			Latency: sim.Every(hop),
		}
	}
	s.Vary = func(spec *trial.Spec, choose *rand.Rand) {
		asked := time.Second + time.Duration(choose.Int64N(int64(time.Second)))
		cut := asked + 2*hop + time.Duration(choose.Int64N(int64(time.Second)))
		startAt(&spec.Cast.Clients[0], asked)
		spec.Schedule = faults.Schedule{{Anchor: faults.At(cut), Action: faults.Restart{Server: "r1", How: faults.PowerLoss}}}
	}
	s.Share = func() Share {
		want := map[string]float64{"none": 1, "everysec": 0.5, "always": 0}[persistence]
		return Share{
			Of: "the restarted node has lost the key", Hit: lostAtRestart,
			Runs: 1000, Want: want, Tolerance: fourSigma(want, 1000),
			Because: map[string]string{
				"none":     "nothing is kept",
				"everysec": "the next sync is as likely to come before the cut as after it, within four standard deviations",
				"always":   "the key was synced before the OK",
			}[persistence],
		}
	}
	s.Control = func() Control { return turned("everysec-power-loss", "persistence", persistence, "always", "none") }
	return s
}

func lostAtRestart(r *trial.Result) bool {
	for i := range r.History.Events {
		if e := &r.History.Events[i]; e.Kind == history.Freed && e.Why == history.FreedRestart {
			return true
		}
	}
	return false
}

// pauseOdds is S17 and S64: a longer term only makes the stale write rarer. Pauses
// are exponential with a mean of 5 s.
func pauseOdds() *Scenario {
	ttl := 10 * time.Second
	const mean = 5 * time.Second
	s := &Scenario{
		Name: "pause-odds", Pair: "pause",
		Claim:  "a longer term makes a stale write rarer, and never impossible",
		Claims: []string{"S17", "S64", "T24"},
	}
	s.Params = []Param{duration("ttl", &ttl, 10*time.Second, "the term of a lease")}
	s.Spec = func() trial.Spec {
		return trial.Spec{
			System:  lease.Ideal{TTL: ttl},
			Cast:    trial.Writers(2, resource.Plain("doc")),
			Horizon: 1000 * time.Hour,
		}
	}
	s.Vary = func(spec *trial.Spec, choose *rand.Rand) {
		pause := time.Duration(choose.ExpFloat64() * float64(mean))
		spec.Schedule = pauseBefore("write", "gc", pause)
	}
	s.Share = func() Share {
		want := math.Exp(-float64(ttl) / float64(mean))
		return Share{
			Of: "a stale write", Hit: func(r *trial.Result) bool { return len(r.Damage.Events) > 0 },
			Runs: 2000, Want: want, Tolerance: fourSigma(want, 2000),
			Because: fmt.Sprintf("a pause is longer than %s with probability exp(-TTL/5s), within four standard deviations", short(ttl)),
		}
	}
	s.Control = func() Control { return Control{"pause-odds", []string{"ttl=" + short(2*ttl)}} }
	return s
}

// invoices is T1, T9 and T10: two instances of a job that mails three invoices,
// started at about the same time.
func invoices(name string) *Scenario {
	s := &Scenario{
		Name: name, Pair: "jobs", Claims: []string{"T1", "T3", "T9", "S5", "K1"},
		Claim: "two instances of a job without a lock send every mail twice",
	}
	const mails = "do mailer invoice-1; work 50ms; do mailer invoice-2; work 50ms; do mailer invoice-3; work 50ms"
	script, control, want := mails, "invoices-locked", 1.0
	if name == "invoices-locked" {
		script, control, want = "try; "+mails+"; release", "invoices", 0
		s.Claim = "with SET NX PX one of two instances that start together does the work, the other skips it"
		s.Claims = []string{"T10"}
	}
	s.Spec = func() trial.Spec {
		spec := trial.Spec{
			Latency: sim.Every(hop),
			Cast: trial.Cast{
				Resources: []models.Resource{resource.Mailer{Called: "mailer"}},
				Clients:   []trial.Client{{Name: "c1", Script: trial.MustScript(script)}, {Name: "c2", Script: trial.MustScript(script)}},
			},
		}
		if name == "invoices-locked" {
			spec.System = redis.SetNX{TTL: 5 * time.Second}
		}
		return spec
	}
	s.Vary = func(spec *trial.Spec, choose *rand.Rand) {
		for i := range spec.Cast.Clients {
			startAt(&spec.Cast.Clients[i], time.Duration(choose.Int64N(int64(20*time.Millisecond))))
		}
	}
	s.Share = func() Share {
		return Share{
			Of: "a mail that was sent twice", Hit: func(r *trial.Result) bool { return len(r.Damage.Events) > 0 },
			Runs: 100, Want: want, Tolerance: 0,
			Because: map[bool]string{
				true:  "each instance sends all three: 6 mails in each of 100 rounds",
				false: "the second asks while the first holds: 3 mails in each of 100 rounds, 100 skipped",
			}[want == 1],
		}
	}
	s.Control = func() Control { return Control{Name: control} }
	return s
}

// startAt lets a client begin later.
func startAt(c *trial.Client, at time.Duration) {
	c.Script = append(trial.Script{{Verb: "until", For: at}}, c.Script...)
}
