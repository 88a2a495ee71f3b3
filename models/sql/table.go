package sql

// table is rows by their primary key. What a row holds is a value that is never
// changed: a change makes a new version of it.
type table struct {
	name string
	rows []*row
}

// row is one row, and who has locked it.
type row struct {
	table    *table
	key      string
	versions []version // what was committed, oldest first
	draft    any       // what holder has made of it; nil for nothing
	holder   *transaction
	waiters  []*running // in the order in which they came
}

// version is a row as a commit left it.
type version struct {
	seq   int64
	value any
}

// row finds the row of key; nil when there is none.
func (t *table) row(key string) *row {
	for _, r := range t.rows {
		if r.key == key {
			return r
		}
	}
	return nil
}

// place is the row of key, which need not have a version.
func (t *table) place(key string) *row {
	if r := t.row(key); r != nil {
		return r
	}
	r := &row{table: t, key: key}
	t.rows = append(t.rows, r)
	return r
}

// latest is what was committed last; nil for nothing.
func (r *row) latest() *version {
	if r == nil || len(r.versions) == 0 {
		return nil
	}
	return &r.versions[len(r.versions)-1]
}

// visible is what tx sees of a row: its own draft, or what was committed by its
// snapshot; nil for nothing.
func (r *row) visible(tx *transaction) any {
	if r == nil {
		return nil
	}
	if r.holder == tx && r.draft != nil {
		return r.draft
	}
	for i := len(r.versions) - 1; i >= 0; i-- {
		if r.versions[i].seq <= tx.snapshot {
			return r.versions[i].value
		}
	}
	return nil
}

// current is what tx changes when it changes a row that it has locked.
func (r *row) current(tx *transaction) any {
	if r.holder == tx && r.draft != nil {
		return r.draft
	}
	if v := r.latest(); v != nil {
		return v.value
	}
	return nil
}

// get reads the row of key, as a SELECT does.
func get[R any](x *running, t *table, key string) (R, bool) {
	v, ok := t.row(key).visible(x.tx).(R)
	return v, ok
}

// insert adds a row. The result is 1 row, or with nothing (ON CONFLICT DO NOTHING,
// INSERT IGNORE) 0 where there is one, and else an error. Where another's insert of
// the same key is not committed yet, it waits for that.
func insert[R any](x *running, t *table, key string, value R, nothing bool) Result {
	r := t.place(key)
	v := r.latest()
	if v == nil && r.current(x.tx) == nil {
		if !x.lock(r) {
			return x.blocked()
		}
		x.given = nil
		x.change(r, value)
		return Result{Rows: 1}
	}
	x.giveOn(r)
	switch {
	case !nothing:
		return x.fail(duplicate)
	case v != nil && x.unseen(v):
		return x.fail(serialization)
	}
	return Result{}
}

// update changes the row of key where it is so, and returns 1 row or 0. It waits
// for whoever has locked the row, and then looks again, at what that one has left
// (PostgreSQL's read committed; InnoDB waits first and looks then).
func update[R any](x *running, t *table, key string, where func(R) bool, set func(R) R) Result {
	r, res := find(x, t, key, where, false)
	if r == nil {
		return res
	}
	x.change(r, set(r.current(x.tx).(R)))
	return res
}

// selectForUpdate locks the row of key where it is so, and returns 1 row or 0. With
// skip (SKIP LOCKED) it does not wait for whoever has locked it.
func selectForUpdate[R any](x *running, t *table, key string, where func(R) bool, skip bool) Result {
	_, res := find(x, t, key, where, skip)
	return res
}

// find locks the row of key where it is so; the row is nil when there is none, or x
// has to wait for it.
func find[R any](x *running, t *table, key string, where func(R) bool, skip bool) (*row, Result) {
	r := t.row(key)
	seen, ok := r.visible(x.tx).(R)
	if !ok || !where(seen) {
		x.giveOn(r)
		return nil, Result{}
	}
	if skip && r.holder != nil && r.holder != x.tx {
		return nil, Result{}
	}
	fresh := r.holder == nil
	if !x.lock(r) {
		return nil, x.blocked()
	}
	if v := r.latest(); v != nil && x.unseen(v) {
		return nil, x.fail(serialization)
	}
	if now, ok := r.current(x.tx).(R); !ok || !where(now) {
		if fresh {
			x.given = r
		}
		x.giveOn(r)
		return nil, Result{}
	}
	x.given = nil
	return r, Result{Rows: 1}
}

// giveOn gives a row that was handed to x to the next: x has no use for it.
func (x *running) giveOn(r *row) {
	if r != nil && x.given == r {
		x.given = nil
		x.tx.unlock(r)
	}
}
