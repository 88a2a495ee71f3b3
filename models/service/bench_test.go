package service_test

import (
	"testing"
	"time"

	"locksim/faults"
	"locksim/models/resource"
	"locksim/models/service"
	"locksim/sim"
	"locksim/trial"
)

// BenchmarkLeaderCrash is a judged run of 20 s: three clients on three nodes, whose
// leader loses power under the first. It is to be judged by its ratio to
// BenchmarkSwitch of package sim on the same machine.
func BenchmarkLeaderCrash(b *testing.B) {
	runner := trial.NewRunner()
	defer runner.Close()
	spec := trial.Spec{
		System: service.Lock{}, Cast: trial.Writers(3, resource.Fenced("doc")),
		Schedule: faults.MustParse("at 1500ms restart n1 power-loss 5s"), Latency: sim.Every(time.Millisecond), Horizon: 20 * time.Second,
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := runner.Run(&spec); err != nil {
			b.Fatal(err)
		}
	}
}
