// Package catalog knows every lock system and every kind of resource by name, so
// that a spec can be written down and read back. A new system is a new file
// beside its kind, and one line here.
package catalog

import (
	"fmt"
	"reflect"
	"strings"

	"locksim/models"
	"locksim/models/chubby"
	"locksim/models/consul"
	"locksim/models/etcd"
	"locksim/models/kubernetes"
	"locksim/models/lease"
	"locksim/models/quorum"
	"locksim/models/redis"
	"locksim/models/resource"
	"locksim/models/service"
	"locksim/models/sql"
	"locksim/models/twophase"
	"locksim/models/zookeeper"
)

// Entry is something that has a name. New makes one with its zero options, to be
// decoded into; it is a pointer.
type Entry[T any] struct {
	Name string
	New  func() T
	// About is what has to be known of a lock system; empty for a resource.
	About models.About
}

// Systems are the lock systems.
func Systems() []Entry[models.System] {
	return []Entry[models.System]{
		{"lease", func() models.System { return new(lease.Ideal) }, lease.Ideal{}.About()},
		{"set-nx", func() models.System { return new(redis.SetNX) }, redis.SetNX{}.About()},
		{"redlock", func() models.System { return new(redis.Redlock) }, redis.Redlock{}.About()},
		{"zookeeper", func() models.System { return new(zookeeper.Mutex) }, zookeeper.Mutex{}.About()},
		{"consul", func() models.System { return new(consul.Lock) }, consul.Lock{}.About()},
		{"etcd", func() models.System { return new(etcd.Etcd) }, etcd.Etcd{}.About()},
		{"quorum", func() models.System { return new(quorum.Lock) }, quorum.Lock{}.About()},
		{"lock-service", func() models.System { return new(service.Lock) }, service.Lock{}.About()},
		{"two-phase", func() models.System { return new(twophase.Lock) }, twophase.Lock{}.About()},
		{"kubernetes", func() models.System { return new(kubernetes.LeaderElection) }, kubernetes.LeaderElection{}.About()},
		{"chubby", func() models.System { return new(chubby.Lock) }, chubby.Lock{}.About()},
		{"lease-table", func() models.System { return new(sql.Lease) }, sql.Lease{}.About()},
		{"advisory", func() models.System { return new(sql.Advisory) }, sql.Advisory{}.About()},
		{"row", func() models.System { return new(sql.Row) }, sql.Row{}.About()},
		{"job-runs", func() models.System { return new(sql.JobRuns) }, sql.JobRuns{}.About()},
	}
}

// Resources are the kinds of resource.
func Resources() []Entry[models.Resource] {
	return []Entry[models.Resource]{
		{Name: "store", New: func() models.Resource { return new(resource.Store) }},
		{Name: "mailer", New: func() models.Resource { return new(resource.Mailer) }},
		{Name: "leaderless-store", New: func() models.Resource { return new(quorum.Store) }},
		{Name: "etcd-keys", New: func() models.Resource { return new(etcd.Keys) }},
		{Name: "documents", New: func() models.Resource { return new(sql.Documents) }},
		{Name: "inbox", New: func() models.Resource { return new(sql.Inbox) }},
	}
}

// New makes the entry called name. The error says which names there are.
func New[T any](entries []Entry[T], what, name string) (T, error) {
	var names []string
	for _, e := range entries {
		if e.Name == name {
			return e.New(), nil
		}
		names = append(names, e.Name)
	}
	var none T
	return none, fmt.Errorf("no %s %q: want one of %s", what, name, strings.Join(names, ", "))
}

// NameOf is the name of v's type; the error says that the catalog has none for
// it.
func NameOf[T any](entries []Entry[T], v T) (string, error) {
	kind := reflect.Indirect(reflect.ValueOf(v)).Type()
	for _, e := range entries {
		if reflect.TypeOf(e.New()).Elem() == kind {
			return e.Name, nil
		}
	}
	return "", fmt.Errorf("%s is not in the catalog, so it has no text form", kind)
}
