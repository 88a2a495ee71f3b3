package etcd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"locksim/faults"
	"locksim/history"
	"locksim/sim"
)

// TestJ1 is what Jepsen found of the keys of etcd 3.4.3: reads, writes and transactions
// over two keys have one order, that of real time, whatever is done to servers and to
// their clocks. Porcupine looks for it. Reads that are serializable have none.
func TestJ1(t *testing.T) {
	t.Parallel()
	w := sim.New()
	defer w.Close()
	const seeds = 60
	for _, serializable := range []bool{false, true} {
		wrong, done, unknown, leaders := 0, 0, 0, 0
		for seed := range uint64(seeds) {
			r := register{serializable: serializable}
			r.run(t, w, seed)
			r.fold()
			if !porcupine.CheckOperations(twoKeys, r.done) {
				wrong++
			}
			done, unknown = done+len(r.done), unknown+len(r.unknown)
			for _, e := range w.History().Events {
				if e.Kind == history.Elected {
					leaders++
				}
			}
		}
		require.Greater(t, done, 100*seeds)
		require.Greater(t, unknown, seeds)
		require.Greater(t, leaders, 2*seeds, "the faults depose leaders")
		require.Equal(t, serializable, wrong > 0, "%d of %d runs without an order", wrong, seeds)
	}
}

// register is what clients do with the keys a and b for 20 s.
type register struct {
	serializable  bool
	done, unknown []porcupine.Operation
	now           int64 // counts calls and returns
}

// An action reads a key, or changes that key, or both, if its value is what the client
// saw last.
type (
	action struct {
		kind     string // get, cas, both
		key      int
		old, new string
	}
	// reply is what came of it: whether it changed something, and the key's value.
	reply struct {
		changed bool
		read    string
	}
)

var twoKeys = porcupine.Model{
	Init: func() any { return [2]string{} },
	Step: func(state, input, output any) (bool, any) {
		s, a, r := state.([2]string), input.(action), output.(reply)
		was := s[a.key]
		if a.kind == "get" {
			return r.read == was, s
		}
		if was != a.old {
			return !r.changed && r.read == was, s
		}
		s[a.key] = a.new
		if a.kind == "both" {
			s[1-a.key] = a.new
		}
		return r.changed, s
	},
}

func (r *register) run(t *testing.T, w *sim.World, seed uint64) {
	const hop = time.Millisecond
	w.Reset(sim.Config{Seed: seed, Horizon: 40 * time.Second, Latency: sim.Latency{Default: []time.Duration{hop, hop, 3 * hop, 20 * hop}}})
	opened, err := Etcd{Timeout: time.Second}.Open(w)
	require.NoError(t, err)
	for i := range 4 {
		nodes := opened.(*lock).nodes
		c := &client{nodes: append(nodes[i%3:len(nodes):len(nodes)], nodes[:i%3]...)}
		name := fmt.Sprintf("c%d", i+1)
		choose := w.Stream(name)
		w.Go(name, func(p *sim.Process) {
			var seen [2]string
			for n := 0; w.Now() < 20*time.Second; n++ {
				a := action{"get", choose.IntN(2), "", fmt.Sprintf("%s-%d", name, n)}
				a.kind = []string{"get", "cas", "cas", "both"}[choose.IntN(4)]
				a.old = seen[a.key]
				if answer, err := r.do(p, c, a); err == nil {
					seen[a.key] = answer.read
				}
				p.Sleep(time.Duration(choose.IntN(200)) * time.Millisecond)
			}
		})
	}
	require.NoError(t, nemesis(rand.New(rand.NewPCG(seed, 1))).Apply(w))
	require.NoError(t, w.Run())
}

var keyNames = [2]string{"a", "b"}

// do does an action and notes it: without an end where it may have been done, or may be
// yet, and not at all where it was only to read.
func (r *register) do(p *sim.Process, c *client, a action) (reply, error) {
	r.now++
	o := porcupine.Operation{Input: a, Call: r.now, Return: math.MaxInt64}
	answer, err := r.ask(p, c, a)
	r.now++
	switch {
	case err == nil:
		o.Return, o.Output = r.now, answer
		r.done = append(r.done, o)
	case a.kind != "get":
		r.unknown = append(r.unknown, o)
	}
	return answer, err
}

// fold decides what is unknown: a change whose value somebody has seen was made before
// that was known, and any other may as well not have been. Each value is new, and
// whoever writes over one, but for the other key's sake, has seen it.
func (r *register) fold() {
	known := r.done
	for _, u := range r.unknown {
		made := u.Input.(action).new
		for _, o := range known {
			if o.Output.(reply).read == made || o.Input.(action).old == made {
				u.Return = min(u.Return, o.Return)
			}
		}
		if u.Return < math.MaxInt64 {
			u.Output = reply{true, made}
			r.done = append(r.done, u)
		}
	}
}

func (r *register) ask(p *sim.Process, c *client, a action) (reply, error) {
	read1 := op{kind: read, key: keyNames[a.key]}
	if a.kind == "get" {
		f, err := ask[found](p, c, get{op: read1, serializable: r.serializable}, time.Second)
		return reply{read: f.value}, err
	}
	q := txn{
		name:     a.kind,
		compares: []compare{{key: read1.key, field: value, value: a.old}},
		then:     []op{{kind: put, key: read1.key, value: a.new}},
		other:    []op{read1},
	}
	if a.kind == "both" {
		q.then = append(q.then, op{kind: put, key: keyNames[1-a.key], value: a.new})
	}
	o, err := ask[outcome](p, c, q, time.Second)
	if err != nil {
		return reply{}, err
	}
	return reply{o.succeeded, o.results[0].value}, nil
}

// nemesis is what Jepsen's was: every server's clock is stepped by hundreds of seconds,
// servers are paused, crash and are cut off.
func nemesis(choose *rand.Rand) faults.Schedule {
	var lines []string
	for n := 1; n <= 3; n++ {
		for _, what := range []string{
			fmt.Sprintf("clock-step n%d %+ds", n, (choose.Int64N(2)*2-1)*(100+choose.Int64N(800))),
			fmt.Sprintf("pause n%d gc %dms", n, 1+choose.IntN(4000)),
			fmt.Sprintf("restart n%d %s %dms", n, []string{"kill", "power-loss"}[choose.IntN(2)], 1+choose.IntN(4000)),
			fmt.Sprintf("partition n%d|n%d,n%d %dms", n, n%3+1, (n+1)%3+1, 1+choose.IntN(4000)),
		} {
			lines = append(lines, fmt.Sprintf("at %dms %s", 500+choose.IntN(18_000), what))
		}
	}
	return faults.MustParse(strings.Join(lines, "\n"))
}
