package redis

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"locksim/clock"
	"locksim/models"
	"locksim/sim"
)

// redlock is the client's side.
type redlock struct {
	Redlock
	watch stopwatch
	all   []*sim.Server
	lists map[string][]*sim.Server // of the clients that have their own
}

// errLate: the service did what was asked, but the client's measure of the time
// that it took leaves it nothing to rely on.
var errLate = errors.New("answered too late to be of use")

// Acquire makes one attempt, and, where the options say so, others when it fails.
func (l *redlock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	first := l.watch.started(p)
	g, err := l.attempt(p, key, first)
	for n := 0; err != nil && n < l.Retries; n++ {
		p.Sleep(l.RetryDelay)
		watch, anchor := l.watch.started(p), p.World().Now()
		g, err = l.attempt(p, key, watch)
		g.Anchor = anchor
		if l.FromFirst {
			g.Deadline = first.deadline()
		}
	}
	return g, err
}

// attempt makes one attempt. It is the client that decides, by counting: so a
// failure is definite, whatever the nodes have and whoever did not answer.
// Nobody was promised anything.
func (l *redlock) attempt(p *sim.Process, key string, watch stopwatch) (models.Grant, error) {
	value := newValue(p)
	r := l.ask(p, l.nodes(p), l.set(key, value))
	elapsed := watch.elapsed(p)
	if elapsed < watch.usable && len(r.votes) >= l.Quorum {
		g := l.grant(value, watch, &r)
		if l.Token != NoTokens {
			g.Token = l.Token.of(r.counters[:l.Quorum])
		}
		return g, nil
	}
	if l.Cleanup != OnRelease {
		l.clean(p, key, value, r.votes)
	}
	why := strconv.Itoa(len(r.votes)) + " of " + strconv.Itoa(l.Nodes) + " nodes"
	if elapsed >= watch.usable {
		why += ", but after " + elapsed.String() + " of " + watch.usable.String()
	}
	return models.Grant{Value: value}, models.Refused(why)
}

// set is the command that takes the key on one node.
func (l *redlock) set(key, value string) any {
	if l.Token != NoTokens {
		return &SetIncr{key, value, l.TTL, fence(key)}
	}
	return &Set{key, value, l.TTL}
}

func (l *redlock) grant(value string, watch stopwatch, r *round) models.Grant {
	return models.Grant{
		Term:      l.TTL,
		Allowance: l.Drift,
		Value:     value,
		Votes:     r.votes,
		Decided:   r.decided(l.Quorum),
		Deadline:  watch.deadline(),
	}
}

// Release deletes the key on every node that has it with the value of g. It is
// confirmed when a quorum had it.
func (l *redlock) Release(p *sim.Process, key string, g models.Grant) error {
	r := l.clean(p, key, g.Value, g.Votes)
	return l.judge("release", p, &r)
}

// clean deletes the key with that value; votes are the nodes that said OK to it.
func (l *redlock) clean(p *sim.Process, key, value string, votes []string) round {
	nodes := l.nodes(p)
	if l.Cleanup == OnGranted {
		nodes = slices.DeleteFunc(slices.Clone(nodes), func(s *sim.Server) bool { return !slices.Contains(votes, s.Name()) })
	}
	return l.ask(p, nodes, &DelIfEqual{key, value})
}

// Extend gives the key a new TTL on every node that has it with the value of g, and,
// where the options say so, sets it on those that have none. The rules are those of
// Acquire; but a failure leaves the nodes as they are, because the client may still
// hold the lock for its earlier term.
func (l *redlock) Extend(p *sim.Process, key string, g models.Grant) (models.Grant, error) {
	watch := l.watch.started(p)
	if l.FromFirst && watch.start > g.Deadline.Reading {
		return models.Grant{}, models.ErrNotHeld
	}
	r := l.ask(p, l.nodes(p), l.prolong(key, g.Value))
	elapsed := watch.elapsed(p)
	if err := l.judge("extension", p, &r); err != nil {
		return models.Grant{}, err
	}
	if elapsed >= watch.usable {
		return models.Grant{}, errLate
	}
	longer := l.grant(g.Value, watch, &r)
	longer.Token = g.Token
	return longer, nil
}

// prolong is the command that extends the key on one node.
func (l *redlock) prolong(key, value string) any {
	if l.SetOnExtend {
		return &ExpireOrSet{key, value, l.TTL}
	}
	return &ExpireIfEqual{key, value, l.TTL}
}

// judge is the outcome of a round about a lock that the client had: confirmed by
// a quorum, or denied by so many that there can be no quorum, or unknown.
func (l *redlock) judge(what string, p *sim.Process, r *round) error {
	nodes := len(l.nodes(p))
	switch {
	case len(r.votes) >= l.Quorum:
		return nil
	case r.denied > nodes-l.Quorum:
		return models.ErrNotHeld
	}
	// What one node answered is not what the lock answers: no %w.
	return fmt.Errorf("%s confirmed by %d of %d nodes; %s: %v", what, len(r.votes), nodes, r.silent, r.err)
}

// nodes is p's list of nodes.
func (l *redlock) nodes(p *sim.Process) []*sim.Server {
	if list, ok := l.lists[p.Name()]; ok {
		return list
	}
	return l.all
}

// round is the answers to one command that was sent to all nodes.
type round struct {
	votes []string // the nodes that did it, as their answers were read
	left  []int    // where in the history each of these answers left its node
	// Of a command that counts, what each of these nodes has counted to; nil of any
	// other.
	counters []int64
	denied   int    // how many answered that they did not
	silent   string // the last node that did not answer
	err      error  // and why
}

// noTimeout is the patience of a client that waits for ever.
const noTimeout time.Duration = -1

// ask sends one command to some of p's nodes and collects the answers.
func (l *redlock) ask(p *sim.Process, nodes []*sim.Server, command any) round {
	r := round{votes: make([]string, 0, len(nodes)), left: make([]int, 0, len(nodes))}
	if _, counts := command.(*SetIncr); counts {
		r.counters = make([]int64, 0, len(nodes))
	}
	if l.Sends == Parallel {
		l.askAll(p, nodes, command, &r)
		return r
	}
	for _, node := range nodes {
		reply, err := p.Await(p.Send(node, command), l.Timeout)
		r.add(p, node, reply, err)
	}
	return r
}

// askAll sends to all nodes and then reads the answers, until all are there or
// the timeout, which runs for all of them from the first send, is over.
func (l *redlock) askAll(p *sim.Process, nodes []*sim.Server, command any, r *round) {
	start := p.Machine().Read(clock.Monotonic)
	tickets := make([]sim.Ticket, len(nodes))
	for i, node := range nodes {
		tickets[i] = p.Send(node, command)
	}
	for range nodes {
		left := noTimeout
		if !l.NoTimeout {
			left = max(0, start+l.Timeout-p.Machine().Read(clock.Monotonic))
		}
		i, reply, err := p.AwaitAny(tickets, left)
		if i < 0 {
			r.silent, r.err = "at least one", err
			return
		}
		r.add(p, nodes[i], reply, err)
	}
}

// add counts the answer that p has read last.
func (r *round) add(p *sim.Process, node *sim.Server, reply any, err error) {
	switch n, counts := reply.(Integer); {
	case err != nil:
		r.silent, r.err = node.Name(), err
	case counts && n > 0:
		if r.counters != nil {
			r.counters = append(r.counters, int64(n))
		}
		r.vote(p, node)
	case reply == Status(true):
		r.vote(p, node)
	default:
		r.denied++
	}
}

func (r *round) vote(p *sim.Process, node *sim.Server) {
	r.votes = append(r.votes, node.Name())
	r.left = append(r.left, p.Left())
}

// decided is where in the history the answer left its node that completed the
// quorum. Answers may be read in another order than they left in.
func (r *round) decided(quorum int) int {
	slices.Sort(r.left)
	return r.left[quorum-1]
}
