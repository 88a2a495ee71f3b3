// Package trial is one run: a [Spec], pure data, goes in; a [Result], the
// history and its four verdicts, comes out.
//
// A Spec says which lock system, which clients do what (the [Cast]), what goes
// wrong (the schedule), how long messages take, and the seed. Scenarios, files
// and users' own tests all build the same Spec:
//
//	r := trial.Test(t, trial.Spec{
//		System:   Mine{TTL: 10 * time.Second},
//		Cast:     trial.Writers(2, resource.Fenced("doc")),
//		Schedule: faults.MustParse("before c1.write#1  pause c1 gc 14s"),
//	})
//	require.Equal(t, check.Kept, r.Promise.Status)
//
// The package records what the clients do with the lock; a lock under test
// records nothing and cannot get it wrong.
package trial
