package scenarios

import "locksim/models"

// lockless is the row without a lock. Both read doc first. What a server's accident does
// is up to the store, which has none here.
func lockless(name string, predicted ...Mark) contender {
	return contender{
		Row:    Row{Name: name, Predicted: predicted, Fenced: Nothing, Compared: Holds, Unlocked: true},
		target: target{deciding: 1},
		system: func(string) models.System { return nil },
		fate: func(fault, _ string) fate {
			first := holder(fault, "cas", 0)
			if fault == "pause-acquire" { // it is the answer to its read that comes late
				first.write = ask + paused + hop
			}
			return fate{first: first, second: successor("cas", comes(fault)), why: "c2 reads before c1 has written, and writes first"}
		},
	}
}
