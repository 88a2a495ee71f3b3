package consul

import (
	"errors"
	"fmt"
	"time"

	"locksim/clock"
	"locksim/sim"
)

// agent is what a client asks: it knows the servers.
type agent struct {
	client string
	at     int // the server that it asks, by its place in the group
}

const (
	// hold is for how long an agent tries on while there is no leader (rpc_hold_timeout).
	hold = 7 * time.Second
	// pace is its wait between; Consul draws up to a sixteenth of hold.
	pace = 100 * time.Millisecond
	// patience is for how long it waits for an answer (limits.rpc_client_timeout),
	// beside what a query asks it to wait.
	patience = 60 * time.Second
)

// errNoLeader is the answer of an agent that has found none.
var errNoLeader = errors.New("no cluster leader")

// agent is the client's.
func (l *lock) agent(client string) *agent {
	for _, a := range l.agents {
		if a.client == client {
			return a
		}
	}
	a := &agent{client: client}
	l.agents = append(l.agents, a)
	return a
}

// ask sends a request of p's to the leader and returns its answer, an R. It tries
// again where nothing was done: where there was no connection, or no leader, and
// where a query was cut off. Where it does not, its next request goes to the next
// server all the same (agent/consul/client.go: NotifyFailedServer).
func ask[R any](p *sim.Process, l *lock, request any) (R, error) {
	var none R
	a := l.agent(p.Name())
	wait, query := patience, false
	if q, ok := request.(get); ok {
		wait, query = patience+q.wait, true
	}
	failing := time.Duration(-1) // since when
	for {
		reply, err := sim.Call[any](p, l.group.Nodes()[a.at].Server(), request, wait)
		next := (a.at + 1) % len(l.group.Nodes())
		m, elsewhere := reply.(moved)
		switch {
		case err == nil && !elsewhere:
			return reply.(R), nil
		case err == nil:
			err = errNoLeader
			if m.leader != "" {
				next = l.place(m.leader)
			}
		case !errors.Is(err, sim.ErrRefused) && !(query && errors.Is(err, sim.ErrReset)):
			a.at = next
			return none, err
		}
		a.at = next
		now := p.Machine().Read(clock.Monotonic)
		if failing < 0 {
			failing = now
		}
		if now-failing >= hold {
			return none, fmt.Errorf("after %v: %w", now-failing, err)
		}
		if m.leader == "" {
			p.Sleep(pace)
		}
	}
}

// place is that of the server called name in the group.
func (l *lock) place(name string) int {
	for i, n := range l.group.Nodes() {
		if n.Name() == name {
			return i
		}
	}
	return 0
}
