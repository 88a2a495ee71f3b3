package zookeeper

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// tree is the state that all servers of the ensemble share: znodes and sessions.
type tree struct {
	nodes    map[string]*znode // by path; never iterated
	sessions []*session        // in the order in which they were created
}

// znode is a node of the tree. Its fields are those of ZooKeeper's Stat, where a
// lock needs them.
type znode struct {
	path, data string
	stat       Stat
	container  bool
	pzxid      int64    // of the last change of its children
	created    int64    // children created so far, which is the next one's sequence number
	children   []*znode // in the order in which they were created
}

// Stat is what is known of a znode beside its data.
type Stat struct {
	// Czxid and Mzxid are the zxids with which it was created and last changed.
	Czxid, Mzxid int64
	// Version counts the changes of its data.
	Version int64
	// Owner is the session that it ends with, 0 for none.
	Owner int64
}

// session is a client's session.
type session struct {
	id      int64
	client  string
	timeout time.Duration
	nodes   []*znode // its ephemeral nodes, in the order in which they were created
}

// code is how an operation ended, in the words of KeeperException.
type code string

const (
	ok             code = ""
	noNode         code = "no node"
	nodeExists     code = "node exists"
	notEmpty       code = "not empty"
	badVersion     code = "bad version"
	sessionExpired code = "session expired"
	// connectionLoss: the server does not serve the client any more.
	connectionLoss code = "connection loss"
)

func newTree() tree {
	return tree{nodes: map[string]*znode{"/": {path: "/"}}}
}

// sequence is the suffix of a sequential node: ten digits (PrepRequestProcessor:
// "%010d").
func sequence(n int64) string { return fmt.Sprintf("%010d", n) }

// parent is the path above path.
func parent(path string) string {
	return path[:max(1, strings.LastIndexByte(path, '/'))]
}

// name is the last part of path.
func name(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// session finds a session; nil where it has ended.
func (t *tree) session(id int64) *session {
	for _, s := range t.sessions {
		if s.id == id {
			return s
		}
	}
	return nil
}

// create makes a node, and above it one, where that is asked for and it is missing.
func (t *tree) create(zxid int64, c create) (*znode, code) {
	owner := t.session(c.Session)
	if owner == nil {
		return nil, sessionExpired
	}
	above := t.nodes[parent(c.Path)]
	if above == nil && !c.Parent {
		return nil, noNode
	}
	if above == nil {
		above = t.add(t.nodes["/"], &znode{path: parent(c.Path), stat: Stat{Czxid: zxid, Mzxid: zxid}, container: c.Container})
	}
	n := &znode{path: c.Path, data: c.Data, stat: Stat{Czxid: zxid, Mzxid: zxid}}
	if c.Sequential {
		n.path += sequence(above.created)
	}
	if t.nodes[n.path] != nil {
		return nil, nodeExists
	}
	if c.Ephemeral {
		n.stat.Owner = owner.id
		owner.nodes = append(owner.nodes, n)
	}
	return t.add(above, n), ok
}

func (t *tree) add(above, n *znode) *znode {
	t.nodes[n.path] = n
	above.children = append(above.children, n)
	above.created++
	above.pzxid = n.stat.Czxid
	return n
}

// remove deletes a node. version is what its data must be at; -1 for whatever.
func (t *tree) remove(zxid int64, path string, version int64) (*znode, code) {
	n := t.nodes[path]
	switch {
	case n == nil || path == "/":
		return nil, noNode
	case version != -1 && version != n.stat.Version:
		return nil, badVersion
	case len(n.children) > 0:
		return nil, notEmpty
	}
	delete(t.nodes, path)
	above := t.nodes[parent(path)]
	above.pzxid = zxid
	above.children = without(above.children, n)
	if owner := t.session(n.stat.Owner); owner != nil {
		owner.nodes = without(owner.nodes, n)
	}
	return n, ok
}

func without(list []*znode, n *znode) []*znode {
	return slices.DeleteFunc(slices.Clone(list), func(x *znode) bool { return x == n })
}

// set changes a node's data.
func (t *tree) set(zxid int64, c setData) (*znode, code) {
	n := t.nodes[c.Path]
	switch {
	case n == nil:
		return nil, noNode
	case c.Version != -1 && c.Version != n.stat.Version:
		return nil, badVersion
	}
	n.data, n.stat.Mzxid = c.Data, zxid
	n.stat.Version++
	return n, ok
}

// end ends a session, and returns its nodes, which are gone.
func (t *tree) end(zxid, id int64) []*znode {
	s := t.session(id)
	if s == nil {
		return nil
	}
	gone := s.nodes
	for _, n := range gone {
		t.remove(zxid, n.path, -1)
	}
	t.sessions = slices.DeleteFunc(t.sessions, func(x *session) bool { return x == s })
	return gone
}

// names are the names of a node's children.
func (n *znode) names() []string {
	list := make([]string, len(n.children))
	for i, c := range n.children {
		list[i] = name(c.path)
	}
	return list
}
