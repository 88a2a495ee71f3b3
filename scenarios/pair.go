package scenarios

// Pair is a point on which the two sides of the argument differ, and what running
// it shows. Both sides are in our own words.
type Pair struct {
	// ID is a short name, such as "pause".
	ID string
	// Question is what the pair is about.
	Question string
	// Claim is what one side says, Answer what the other does.
	Claim, Answer Statement
	// Found is what the runs show; Decides the assumption on which it hangs who is
	// right.
	Found, Decides string
}

// Statement is what somebody says, and where.
type Statement struct{ Who, Says, Where string }
