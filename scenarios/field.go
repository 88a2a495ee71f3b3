package scenarios

import (
	"slices"
	"strings"
)

// Case is what a scenario says besides that stands for a failure from the field: a
// public report of a lock that did not hold, reduced to a schedule.
type Case struct {
	// Report is the public report's name, as it stands in the claim.
	Report string
	// Seen is what the operators of the system would have seen.
	Seen string
	// By is whose the cure is.
	By Healer
	// Cure is what turns the failure off: settings of the scenario, each "key=value",
	// with blanks between. It is run as the control.
	Cure string
	// Means says what those settings are on the real system.
	Means string
}

// Healer is who can cure a failure.
type Healer string

// The healers.
const (
	Client    Healer = "client"    // or its library: its code or its options
	Operators Healer = "operators" // of the servers
	Store     Healer = "store"     // what the lock protects: no lock can
)

// fromField makes s stand for a failure from the field.
func (s *Scenario) fromField(c Case) *Scenario {
	s.Pair, s.Case = "field", &c
	s.Control = func() Control { return Control{s.Name, s.cured(strings.Fields(c.Cure))} }
	return s
}

// cured are the settings of s's control: the cure, and without it what was before.
func (s *Scenario) cured(cure []string) []string {
	settings := s.Settings()
	var before []string
	for _, setting := range cure {
		if !slices.Contains(settings, setting) {
			return cure
		}
		key, _, _ := strings.Cut(setting, "=")
		before = append(before, key+"="+s.param(key).Default)
	}
	return before
}

// retold makes s, which shows what a case is about with other figures, that case:
// by its name, with the figures of its report ("key=value", each) as the defaults. The
// variants of s are not the case's.
func (s *Scenario) retold(name, claim string, claims []string, figures ...string) *Scenario {
	s.Name, s.Claim, s.Claims, s.Also = name, claim, claims, nil
	for _, setting := range figures {
		key, value, _ := strings.Cut(setting, "=")
		p := s.param(key)
		if err := p.set(value); err != nil {
			panic("scenarios: " + name + ": " + err.Error())
		}
		p.Default = p.Value()
	}
	return s
}
