package zookeeper

import "time"

// on is the connection on which a request comes: a client's session, and how many
// connections it has had.
type on struct {
	Session int64
	Link    int
}

// What a client asks a server. A server that does not know the connection answers
// with its loss.
type (
	// connect asks for a session, or with a session's id to go on with it on this
	// server. Zxid is the greatest that the client has seen; Watches are to be set
	// anew (ZooKeeper's setWatches).
	connect struct {
		on
		Timeout time.Duration
		Zxid    int64
		Watches []watch
	}
	// ping keeps the session. Events is how many the client has got.
	ping struct {
		on
		Events int
	}
	// listen asks for the events after the first so many, as soon as there are any.
	listen struct {
		on
		Events int
	}
	getData struct {
		on
		Path  string
		Watch bool
	}
	exists struct {
		on
		Path  string
		Watch bool
	}
	getChildren struct {
		on
		Path  string
		Watch bool
	}
	// sync waits until the server has all that was committed before.
	sync struct{ on }
	// remove is ZooKeeper's delete. Version -1 is any.
	remove struct {
		on
		Path    string
		Version int64
	}
	// setData changes a node's data. Version -1 is any.
	setData struct {
		on
		Path    string
		Data    string
		Version int64
	}
	// create makes a node. Parent: the one above it too, where it is missing, as a
	// Container or not.
	create struct {
		on
		Path, Data            string
		Ephemeral, Sequential bool
		Parent, Container     bool
	}
)

// The names of the requests, for the history.
func (connect) Label() string     { return "connect" }
func (ping) Label() string        { return "ping" }
func (listen) Label() string      { return "listen" }
func (getData) Label() string     { return "getData" }
func (exists) Label() string      { return "exists" }
func (getChildren) Label() string { return "getChildren" }
func (sync) Label() string        { return "sync" }
func (remove) Label() string      { return "delete" }
func (setData) Label() string     { return "setData" }
func (create) Label() string      { return "create" }

// What only servers put into the log.
type (
	createSession struct {
		Client  string
		Timeout time.Duration
	}
	closeSession struct{ ID int64 }
	// removeContainer deletes a container that has no children.
	removeContainer struct{ Path string }
)

// What servers tell each other beside the log.
type (
	// touches are the sessions that a follower has heard of since it last said so.
	touches struct{ Sessions []int64 }
	// validate asks the leader whether a session stands, and lets it begin anew.
	validate struct{ Session int64 }
	// validated is the leader's answer.
	validated struct {
		Session int64
		OK      bool
	}
)

// reply answers every request of a client.
type reply struct {
	Code code
	// Zxid is the last that the server has applied.
	Zxid int64
	// Session and Timeout answer a connect.
	Session int64
	Timeout time.Duration
	// Path, Data, Stat and Children are what was asked for.
	Path, Data string
	Stat       Stat
	Children   []string
	// Events answer a ping and a listen; From is how many came before them.
	Events []watch
	From   int
}

// Label is the name of an answer that brings events.
func (r reply) Label() string {
	if len(r.Events) > 0 {
		return "event"
	}
	return ""
}

// kind is what a watch is for, and what an event says.
type kind uint8

const (
	data     kind = iota + 1 // the node's data, or that it is gone
	presence                 // whether the node exists
	children                 // the node's children
)

// watch is a watch on a node, or the event that it has fired.
type watch struct {
	Kind kind
	Path string
}
