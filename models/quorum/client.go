package quorum

import (
	"fmt"

	"locksim/clock"
	"locksim/models"
	"locksim/sim"
)

// lock is the client's side.
type lock struct {
	Lock
	nodes []*sim.Server
}

// Acquire makes one attempt. It is refused where it has not written anything; once
// it has, only a quorum of acknowledgements makes the outcome known.
func (l *lock) Acquire(p *sim.Process, key string) (models.Grant, error) {
	start := p.Now(clock.Monotonic)
	found, err := l.read(p, key)
	switch {
	case err != nil:
		return models.Grant{}, models.Refused(err.Error())
	case found.value != "":
		return models.Grant{}, models.ErrHeld
	}
	mine := record{value: newValue(p), token: found.token + 1, ttl: l.TTL}
	g := models.Grant{
		Term: l.TTL, Allowance: l.allowance(), Token: mine.token, Value: mine.value,
		Deadline: &models.Deadline{Clock: clock.Monotonic, Reading: start + l.TTL - l.allowance()},
	}
	g.Votes, err = l.write(p, key, mine)
	return g, err
}

// Release deletes the record, where a quorum says that it is still that of g.
func (l *lock) Release(p *sim.Process, key string, g models.Grant) error {
	found, err := l.read(p, key)
	switch {
	case err != nil:
		return err
	case found.value != g.Value:
		return models.ErrNotHeld
	}
	_, err = l.write(p, key, record{token: found.token})
	return err
}

// Holder reads the record with a quorum.
func (l *lock) Holder(p *sim.Process, key string) (string, error) {
	found, err := l.read(p, key)
	return found.value, err
}

// read is the newest record of those that a quorum of Read answers with, and the
// greatest token.
func (l *lock) read(p *sim.Process, key string) (record, error) {
	answers, err := l.ask(p, l.nodes, read{key}, l.Read)
	if err != nil {
		return record{}, err
	}
	newest, token := nothing, int64(0)
	for _, a := range answers {
		r := a.body.(record)
		token = max(token, r.token)
		if r.newer(newest) {
			newest = r
		}
	}
	if l.ReadRepair {
		if err := l.repair(p, key, newest, answers); err != nil {
			return record{}, err
		}
	}
	newest.token = token
	return newest, nil
}

// repair brings the replicas that answered with less than newest up to date.
func (l *lock) repair(p *sim.Process, key string, newest record, answers []answer) error {
	var behind []*sim.Server
	for _, a := range answers {
		if newest.newer(a.body.(record)) {
			behind = append(behind, a.node)
		}
	}
	_, err := l.ask(p, behind, repair{key, newest}, len(behind))
	return err
}

// write sends r, with what p's wall clock shows as its timestamp, to all replicas,
// and returns the first Write that have acknowledged it.
func (l *lock) write(p *sim.Process, key string, r record) ([]string, error) {
	r.by, r.stamp = p.Name(), p.Now(clock.Wall)
	answers, err := l.ask(p, l.nodes, write{key, r}, l.Write)
	if err != nil {
		return nil, err
	}
	votes := make([]string, len(answers))
	for i, a := range answers {
		votes[i] = a.node.Name()
	}
	return votes, nil
}

// answer is what one replica said.
type answer struct {
	node *sim.Server
	body any
}

// ask sends a request to all of nodes and returns the first answers, as many as are
// needed; nobody reads the others. The error says how many there were, when the
// timeout was over or every other connection had failed.
func (l *lock) ask(p *sim.Process, nodes []*sim.Server, request any, need int) ([]answer, error) {
	end := p.Machine().Read(clock.Monotonic) + l.Timeout
	tickets := make([]sim.Ticket, len(nodes))
	for i, node := range nodes {
		tickets[i] = p.Send(node, request)
	}
	answers := make([]answer, 0, need)
	for failed := 0; len(answers) < need; {
		i, body, err := p.AwaitAny(tickets, max(0, end-p.Machine().Read(clock.Monotonic)))
		switch {
		case err == nil:
			answers = append(answers, answer{nodes[i], body})
			continue
		case i >= 0:
			failed++
		}
		if i < 0 || len(nodes)-failed < need {
			return nil, fmt.Errorf("%d of %d replicas answered, want %d", len(answers), len(nodes), need)
		}
	}
	return answers, nil
}

// newValue is a random value, by which a client knows its record from others': such
// as "c1-8f02a6d3".
func newValue(p *sim.Process) string {
	return fmt.Sprintf("%s-%08x", p.Name(), p.Rand().Uint32())
}
