package redis

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// engine executes commands on a miniredis of its own, by function calls. It has
// no notion of time: what is in it stays until it is deleted.
type engine struct {
	server *server.Server
	peer   *server.Peer
	reply  bytes.Buffer
	args   []string
	// The argument of PX last used, and its text: a run uses one TTL.
	last     int64
	lastText string
}

func newEngine() *engine {
	m := miniredis.NewMiniRedis()
	// With a time of its own miniredis reads no real clock. Nothing depends on it:
	// its clock is not tied to its TTLs, which it therefore never counts down.
	m.SetTime(time.Unix(0, int64(epoch)))
	c, err := m.Dial() // it registers its commands at the first connection
	if err != nil {
		panic(fmt.Sprintf("redis: miniredis does not start: %v", err))
	}
	_ = c.Close()
	m.Server().Close() // waits for the goroutines of that connection
	e := &engine{server: m.Server(), args: make([]string, 0, 6)}
	e.peer = server.NewPeer(bufio.NewWriterSize(&e.reply, 128))
	return e
}

// setNX is SET key value NX PX ttl, without PX where ttl is 0.
func (e *engine) setNX(key, value string, ttl time.Duration) bool {
	e.args = append(e.args[:0], "SET", key, value, "NX")
	e.px(ttl)
	return e.run()[0] == '+'
}

// put is SET key value PX ttl, without PX where ttl is 0.
func (e *engine) put(key, value string, ttl time.Duration) {
	e.args = append(e.args[:0], "SET", key, value)
	e.px(ttl)
	e.run()
}

// px adds PX ttl to e.args, unless ttl is 0.
func (e *engine) px(ttl time.Duration) {
	if ttl > 0 {
		e.args = append(e.args, "PX", e.ms(ttl))
	}
}

// incr is INCR key.
func (e *engine) incr(key string) int64 {
	e.args = append(e.args[:0], "INCR", key)
	n, err := strconv.ParseInt(string(bytes.TrimSuffix(e.run()[1:], []byte("\r\n"))), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("redis: miniredis answers INCR with no number: %v", err))
	}
	return n
}

// get is GET key.
func (e *engine) get(key string) (string, bool) {
	e.args = append(e.args[:0], "GET", key)
	header, rest, _ := bytes.Cut(e.run(), []byte("\r\n"))
	if header[1] == '-' {
		return "", false
	}
	return string(bytes.TrimSuffix(rest, []byte("\r\n"))), true
}

// del is DEL key.
func (e *engine) del(key string) bool {
	e.args = append(e.args[:0], "DEL", key)
	return e.run()[1] == '1'
}

// delIfEqual is DELEX key IFEQ value.
func (e *engine) delIfEqual(key, value string) bool {
	e.args = append(e.args[:0], "DELEX", key, "IFEQ", value)
	return e.run()[1] == '1'
}

// compareAndDelete is the script of the Redis documentation ("Distributed Locks with
// Redis") that releases a lock.
const compareAndDelete = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`

// evalDelIfEqual runs that script in miniredis's Lua: it takes a hundred times as long
// as DELEX.
func (e *engine) evalDelIfEqual(key, value string) bool {
	e.args = append(e.args[:0], "EVAL", compareAndDelete, "1", key, value)
	return e.run()[1] == '1'
}

// expire is PEXPIRE key ttl.
func (e *engine) expire(key string, ttl time.Duration) bool {
	e.args = append(e.args[:0], "PEXPIRE", key, e.ms(ttl))
	return e.run()[1] == '1'
}

func (e *engine) ms(d time.Duration) string {
	if ms := d.Milliseconds(); ms != e.last {
		e.last, e.lastText = ms, strconv.FormatInt(ms, 10)
	}
	return e.lastText
}

// run executes e.args. The reply is valid until the next run.
func (e *engine) run() []byte {
	e.reply.Reset()
	e.server.Dispatch(e.peer, e.args)
	e.peer.Flush()
	reply := e.reply.Bytes()
	if len(reply) == 0 || reply[0] == '-' {
		panic(fmt.Sprintf("redis: miniredis answers %q to %q", reply, e.args))
	}
	return reply
}
