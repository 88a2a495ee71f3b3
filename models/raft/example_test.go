package raft_test

import (
	"fmt"
	"time"

	"locksim/faults"
	"locksim/models/raft"
	"locksim/sim"
)

// register is a replica that keeps one number.
type register struct{ value int }

// What a client can ask: to add to the number, and to read it.
type (
	add  struct{ n int }
	read struct{ linearizable bool }
)

// Serve answers when the command is applied on the node that was asked, or when
// the leader has confirmed that it leads.
func (x *register) Serve(n *raft.Node, r sim.Request) {
	switch q := r.Body.(type) {
	case add:
		n.Propose(q, func(result any) { r.Reply(result) })
	case read:
		if !q.linearizable {
			r.Reply(x.value)
			return
		}
		n.Read(func() { r.Reply(x.value) })
	}
}

// Apply adds, and answers the new number.
func (x *register) Apply(_ *raft.Node, e raft.Entry) any {
	x.value += e.Command.(add).n
	return x.value
}

func Example() {
	w := sim.New()
	defer w.Close()
	w.Reset(sim.Config{Horizon: 10 * time.Second, Latency: sim.Every(time.Millisecond)})
	g, err := raft.Open(w, raft.Config{}, func(*raft.Node) raft.Replica { return &register{} })
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := func(p *sim.Process, node string, what any) {
		n, err := sim.Call[int](p, g.Node(node).Server(), what, 5*time.Second)
		fmt.Println(w.Now(), node, n, err)
	}
	w.Go("c1", func(p *sim.Process) {
		ask(p, "n1", add{5})
		ask(p, "n3", add{6})
		p.Sleep(2 * time.Second)
		ask(p, "n2", read{linearizable: true})
	})
	_ = faults.MustParse("at 1s restart n1 power-loss 5s").Apply(w)
	_ = w.Run()
	// Output:
	// 6ms n1 5 <nil>
	// 14ms n3 11 <nil>
	// 2.02s n2 11 <nil>
}
