package etcd

// What clients ask of a node. Those that change something are also the commands of
// the log, and never changed once they are sent.
type (
	// grantLease asks for a lease of that many seconds. The answer is a leaseGranted.
	grantLease struct{ seconds int64 }
	// revokeLease ends a lease and deletes its keys. by is the client that asks, "" for
	// a leader that has seen the lease end. The answer is a leaseRevoked.
	revokeLease struct {
		lease int64
		by    string
	}
	// keepAlive prolongs a lease. The answer is a keptAlive.
	keepAlive struct{ lease int64 }
	// txn is a transaction: if all comparisons hold, it does the one, else the other.
	// The answer is an outcome. name is for the history, by the client that asks.
	txn struct {
		name, by    string
		compares    []compare
		then, other []op
	}
	// get reads one key. The answer is a found.
	get struct {
		op           op
		serializable bool
	}
	// watch asks to be told of the first deletion of key, or with prefix of any key
	// that begins so, at a revision from on. The answer is a deleted.
	watch struct {
		key    string
		prefix bool
		from   int64
	}
)

// The names of the requests, for the history.
func (grantLease) Label() string  { return "lease-grant" }
func (revokeLease) Label() string { return "lease-revoke" }
func (keepAlive) Label() string   { return "keepalive" }
func (t txn) Label() string       { return t.name }
func (get) Label() string         { return "get" }
func (watch) Label() string       { return "watch" }

// The answers.
type (
	leaseGranted struct{ lease, seconds int64 }
	leaseRevoked struct{ found bool }
	// keptAlive has the TTL in seconds, 0 for a lease that is not there.
	keptAlive struct{ seconds int64 }
	outcome   struct {
		succeeded bool // which list was done
		noLease   bool // neither: a put names a lease that is not there
		revision  int64
		results   []result // of the operations of that list
	}
	found struct {
		result
		revision int64
	}
	deleted struct{ revision int64 }
)

// Label is the name of the message that wakes who waits, for the history.
func (deleted) Label() string { return "deleted" }

// compare holds if a field of a key is what it says. A key that is not there has a
// create revision of 0.
type compare struct {
	key    string
	field  field
	number int64
	value  string
}

type field uint8

const (
	createRevision field = iota
	modRevision
	version
	value
)

// op is one operation on the store.
type op struct {
	kind  kind
	key   string // of first and last: the prefix
	value string // put
	lease int64  // put; 0 for none
	max   int64  // last: the greatest create revision that counts
}

type kind uint8

const (
	put kind = iota
	read
	remove
	// first and last are the keys with a prefix that were created first and last.
	first
	last
)

// result is what came of an operation: the key that was read, or was there before
// it was deleted, or is there after it was put.
type result struct {
	found bool
	keyValue
}

type keyValue struct {
	key, value          string
	create, mod, number int64 // number is the version: how often it was put since its creation
	lease               int64
}
