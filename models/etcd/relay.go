package etcd

import "locksim/sim"

// relays is the questions that servers of a run have asked each other and that are
// not answered yet.
type relays struct {
	asked int64
	open  []relay
}

type relay struct {
	number int64
	reply  func(any)
}

// What goes between servers: a question, and its answer.
type (
	relayed struct {
		number int64
		body   any
	}
	answered struct {
		number int64
		body   any
	}
)

// send asks another server. reply is called with its answer, if that comes.
func (r *relays) send(from, to *sim.Server, body any, reply func(any)) {
	r.asked++
	r.open = append(r.open, relay{r.asked, reply})
	from.Whisper(to, relayed{r.asked, body})
}

// back is how the answer to q, which came with r, is sent.
func (q relayed) back(from *sim.Server, r sim.Request) func(any) {
	to := from.World().Machine(r.From()).Server()
	return func(answer any) { from.Whisper(to, answered{q.number, answer}) }
}

// take hands on an answer.
func (r *relays) take(a answered) {
	for i, q := range r.open {
		if q.number == a.number {
			r.open = append(r.open[:i], r.open[i+1:]...)
			q.reply(a.body)
			return
		}
	}
}
