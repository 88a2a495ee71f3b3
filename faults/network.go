package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/history"
	"locksim/sim"
)

// Partition lets nothing pass between two sides; with OneWay, nothing from the
// first to the second.
type Partition struct {
	A, B   []string
	OneWay bool
	For    time.Duration // 0: never healed
}

func (f Partition) String() string {
	word, mark := "partition", "|"
	if f.OneWay {
		word, mark = "cut", ">"
	}
	return fmt.Sprintf("%s %s%s%s%s", word, strings.Join(f.A, ","), mark, strings.Join(f.B, ","), optional(f.For))
}

func (f Partition) check(w *sim.World) error {
	if err := positive(f.For); err != nil {
		return err
	}
	for _, name := range f.A {
		if slices.Contains(f.B, name) {
			return fmt.Errorf("%s is on both sides", name)
		}
	}
	for _, name := range slices.Concat(f.A, f.B) {
		if _, err := find(w, name, "machine on the network", isRemote); err != nil {
			return err
		}
	}
	return nil
}

func (f Partition) strike(w *sim.World, line string) {
	target, peer := strings.Join(f.A, ","), strings.Join(f.B, ",")
	why := "cut off"
	record(w, history.Fault, target, peer, line, why)
	id := w.AddRule(line, func(m sim.Message) sim.Ruling {
		if f.cuts(m.From, m.To) {
			return sim.Lose()
		}
		return sim.Pass()
	})
	if f.For == 0 {
		return
	}
	w.In(f.For, func() {
		record(w, history.Heal, target, peer, line, why)
		w.RemoveRule(id)
	})
}

func (f Partition) cuts(from, to string) bool {
	if slices.Contains(f.A, from) && slices.Contains(f.B, to) {
		return true
	}
	return !f.OneWay && slices.Contains(f.B, from) && slices.Contains(f.A, to)
}

// Message strikes the next message from one machine to another.
type Message struct {
	What     MessageFault
	From, To string
	By       time.Duration // Delay and Duplicate
}

// MessageFault is what can happen to one message.
type MessageFault uint8

// The faults of one message.
const (
	Delay     MessageFault = iota // it takes By longer; later ones overtake it
	Drop                          // it is lost
	Duplicate                     // it arrives a second time, By after the first
	LoseReply                     // it is a reply, and lost: the server has done the work
)

var messageNames = [...]string{Delay: "delay", Drop: "drop", Duplicate: "duplicate", LoseReply: "lose-reply"}

func (f Message) String() string {
	return fmt.Sprintf("%s %s>%s%s", messageNames[f.What], f.From, f.To, optional(f.By))
}

func (f Message) check(w *sim.World) error {
	from, to := isRemote, isRemote
	if f.What == LoseReply {
		from = func(m *sim.Machine) bool { return isRemote(m) && isServer(m) }
		to = isProcess
	}
	if _, err := find(w, f.From, "sender on the network", from); err != nil {
		return err
	}
	if _, err := find(w, f.To, "receiver on the network", to); err != nil {
		return err
	}
	if f.From == f.To || !isServer(w.Machine(f.From)) && !isServer(w.Machine(f.To)) {
		return fmt.Errorf("%s and %s send each other nothing: want a server at one end", f.From, f.To)
	}
	return positive(f.By)
}

func (f Message) strike(w *sim.World, line string) {
	record(w, history.Fault, f.From, f.To, line, "")
	id := 0
	id = w.AddRule(line, func(m sim.Message) sim.Ruling {
		if m.From != f.From || m.To != f.To || f.What == LoseReply && !m.Reply || m.Kernel {
			return sim.Pass()
		}
		w.RemoveRule(id)
		return f.ruling()
	})
}

func (f Message) ruling() sim.Ruling {
	switch f.What {
	case Delay:
		return sim.Deliver(f.By)
	case Duplicate:
		return sim.Twice(f.By)
	}
	return sim.Lose()
}
