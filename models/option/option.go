// Package option writes and reads the options of a system that are one of a few
// words: an option is a small number, and its word is the one at that place in a
// list.
package option

import (
	"fmt"
	"slices"
	"strings"
)

// Name is the word of an option.
func Name[E ~uint8](words []string, e E) string {
	if int(e) < len(words) {
		return words[e]
	}
	return fmt.Sprintf("(no such option: %d)", e)
}

// Parse reads an option. The error says which words there are.
func Parse[E ~uint8](what string, words []string, text []byte, e *E) error {
	i := slices.Index(words, string(text))
	if i < 0 {
		return fmt.Errorf("no %s %q: want one of %s", what, text, strings.Join(words, ", "))
	}
	*e = E(i)
	return nil
}

// Check tells whether an option has a word at all.
func Check[E ~uint8](what string, words []string, e E) error {
	if int(e) < len(words) {
		return nil
	}
	return fmt.Errorf("%s %d: want one of %s", what, e, strings.Join(words, ", "))
}
