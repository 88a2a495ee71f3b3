// Package scenarios is the argument: each scenario makes one claim about a lock,
// runs it, and says beforehand what must come out.
//
// A [Scenario] is a function of its parameters: they give the spec, and by a
// closed form the expected verdicts, so that a changed parameter changes both.
// Each has a control beside it: the same with the one thing changed that decides
// it, which turns the verdict.
//
//	go test ./scenarios -run TestScenarios/redlock-restart -v
package scenarios
