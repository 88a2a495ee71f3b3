package redis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"locksim/history"
	"locksim/sim"
)

// What the node answers for a key with PX 30000, after a wait and a step of its
// clock; each line was measured on Redis 7.0.15, but for those of the monotonic
// clock, which Redis does not have.
func TestExpiry(t *testing.T) {
	const px = 30 * time.Second
	tests := []struct {
		name  string
		clock Expiry
		wait  time.Duration
		step  time.Duration
		pttl  Integer
		again Status // a SET NX by another
	}{
		{"S25 1ms before the end", Wall, px - hop, 0, 1, false},
		{"S25 at the end", Wall, px, 0, 0, false},
		{"S25 within the last ms", Wall, px + hop - 1, 0, 0, false},
		{"S25 1ms after the end", Wall, px + hop, 0, -2, true},
		{"S29 clock set forward by more", Wall, 0, 60 * time.Second, -2, true},
		{"S29 clock set forward by all that is left", Wall, 0, px, 0, false},
		{"S29 clock set back", Wall, 378 * hop, -60 * time.Second, 89622, false},
		{"S29 clock set back outlives the TTL", Wall, px + hop, -60 * time.Second, 59999, false},
		{"S29 monotonic does not notice a step forward", Monotonic, 0, 60 * time.Second, 30000, false},
		{"S29 monotonic does not notice a step back", Monotonic, px + hop, -60 * time.Second, -2, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			freed := onNode(t, Config{Clock: test.clock}, func(p *sim.Process, s *sim.Server) {
				require.Equal(t, Status(true), ask[Status](p, s, &Set{"k", "mine", px}))
				p.Sleep(test.wait)
				s.Machine().StepClock(test.step)
				require.Equal(t, test.pttl, ask[Integer](p, s, &PTTL{"k"}))
				require.Equal(t, test.again, ask[Status](p, s, &Set{"k", "theirs", px}))
			})
			if !test.again {
				require.Empty(t, freed)
				return
			}
			require.Equal(t, []history.Event{{
				At: test.wait, Kind: history.Freed, Who: "r1", Lock: "k", Value: "mine", Why: history.FreedExpired,
			}}, freed)
		})
	}
}

// A node whose clock gains 10 % frees its keys that much earlier.
func TestExpiryRate(t *testing.T) {
	onNode(t, Config{}, func(p *sim.Process, s *sim.Server) {
		s.Machine().SetClockRate(100_000_000)
		ask[Status](p, s, &Set{"k", "mine", 11 * time.Second})
		p.Sleep(10 * time.Second)
		require.Equal(t, Integer(0), ask[Integer](p, s, &PTTL{"k"}))
		p.Sleep(hop)
		require.Equal(t, Integer(-2), ask[Integer](p, s, &PTTL{"k"}))
	})
}

// Dates are rounded down to milliseconds, before the SET as after it.
func TestExpiryTruncates(t *testing.T) {
	onNode(t, Config{}, func(p *sim.Process, s *sim.Server) {
		p.Sleep(900 * time.Microsecond)
		ask[Status](p, s, &Set{"k", "mine", 10 * hop})
		p.Sleep(10*hop + 99*time.Microsecond)
		require.Equal(t, Integer(0), ask[Integer](p, s, &PTTL{"k"}), "at 10.999 ms, set at 0.900 ms")
		p.Sleep(time.Microsecond)
		require.Equal(t, Integer(-2), ask[Integer](p, s, &PTTL{"k"}))
	})
}

func TestCommands(t *testing.T) {
	freed := onNode(t, Config{}, func(p *sim.Process, s *sim.Server) {
		const ttl = time.Second
		require.Equal(t, Bulk{}, ask[Bulk](p, s, &Get{"k"}))
		require.Equal(t, Integer(0), ask[Integer](p, s, &Del{"k"}))
		require.Equal(t, Integer(0), ask[Integer](p, s, &DelIfEqual{"k", "a"}))
		require.Equal(t, Integer(0), ask[Integer](p, s, &ExpireIfEqual{"k", "a", ttl}))
		require.Equal(t, Integer(-2), ask[Integer](p, s, &PTTL{"k"}))

		require.Equal(t, Status(true), ask[Status](p, s, &Set{"k", "a\r\nb", ttl}))
		require.Equal(t, Status(false), ask[Status](p, s, &Set{"k", "b", ttl}))
		require.Equal(t, Bulk{"a\r\nb", true}, ask[Bulk](p, s, &Get{"k"}))
		require.Equal(t, Integer(0), ask[Integer](p, s, &DelIfEqual{"k", "b"}))
		require.Equal(t, Integer(0), ask[Integer](p, s, &ExpireIfEqual{"k", "b", 2 * ttl}))
		require.Equal(t, Integer(1000), ask[Integer](p, s, &PTTL{"k"}))
		require.Equal(t, Integer(1), ask[Integer](p, s, &ExpireIfEqual{"k", "a\r\nb", 2 * ttl}))
		require.Equal(t, Integer(2000), ask[Integer](p, s, &PTTL{"k"}))
		p.Sleep(2 * ttl)
		require.Equal(t, Integer(1), ask[Integer](p, s, &DelIfEqual{"k", "a\r\nb"}))

		require.Equal(t, Status(true), ask[Status](p, s, &Set{"k", "b", ttl}))
		require.Equal(t, Integer(1), ask[Integer](p, s, &Del{"k"}))
	})
	require.Equal(t, []history.Event{
		{At: 2 * time.Second, Kind: history.Freed, Who: "r1", Peer: "c1", Lock: "k", Value: "a\r\nb", Why: history.FreedDeleted},
		{At: 2 * time.Second, Kind: history.Freed, Who: "r1", Peer: "c1", Lock: "k", Value: "b", Why: history.FreedDeleted},
	}, freed)
}

// The commands of the sloppier recipes.
func TestMoreCommands(t *testing.T) {
	freed := onNode(t, Config{}, func(p *sim.Process, s *sim.Server) {
		const ttl = time.Second
		require.Equal(t, Integer(0), ask[Integer](p, s, &PExpire{"k", ttl}))
		require.Equal(t, Status(true), ask[Status](p, s, &Set{"k", "a", 0}))
		require.Equal(t, Status(false), ask[Status](p, s, &Set{"k", "b", 0}))
		require.Equal(t, Integer(-1), ask[Integer](p, s, &PTTL{"k"}))
		p.Sleep(time.Hour)
		require.Equal(t, Bulk{"a", true}, ask[Bulk](p, s, &Get{"k"}))
		require.Equal(t, Integer(1), ask[Integer](p, s, &PExpire{"k", ttl}))
		require.Equal(t, Integer(1000), ask[Integer](p, s, &PTTL{"k"}))

		require.Equal(t, Status(true), ask[Status](p, s, &Put{"k", "b", ttl}))
		require.Equal(t, Status(true), ask[Status](p, s, &Put{"k", "b", 2 * ttl}), "its own: nothing is freed")
		require.Equal(t, Integer(2000), ask[Integer](p, s, &PTTL{"k"}))
		require.Equal(t, Status(true), ask[Status](p, s, &Put{"k", "b", 0}))
		require.Equal(t, Integer(-1), ask[Integer](p, s, &PTTL{"k"}))

		require.Equal(t, Integer(1), ask[Integer](p, s, &ExpireOrSet{"m", "a", ttl}), "there is no such key")
		require.Equal(t, Integer(0), ask[Integer](p, s, &ExpireOrSet{"m", "b", 2 * ttl}), "it is another's")
		require.Equal(t, Integer(1000), ask[Integer](p, s, &PTTL{"m"}))
		require.Equal(t, Integer(1), ask[Integer](p, s, &ExpireOrSet{"m", "a", 2 * ttl}), "its own")
		require.Equal(t, Integer(2000), ask[Integer](p, s, &PTTL{"m"}))

		require.Equal(t, Integer(1), ask[Integer](p, s, &Incr{"n"}))
		require.Equal(t, Integer(0), ask[Integer](p, s, &SetIncr{"k", "c", ttl, "n"}))
		require.Equal(t, Integer(2), ask[Integer](p, s, &SetIncr{"l", "c", ttl, "n"}))
		require.Equal(t, Bulk{"2", true}, ask[Bulk](p, s, &Get{"n"}))
		require.Equal(t, Integer(-1), ask[Integer](p, s, &PTTL{"n"}))
		require.Equal(t, Integer(1), ask[Integer](p, s, &Del{"n"}), "a counter is no lock: nothing is recorded")
		require.Equal(t, Integer(1), ask[Integer](p, s, &Incr{"n"}))
	})
	require.Equal(t, []history.Event{
		{At: time.Hour, Kind: history.Freed, Who: "r1", Peer: "c1", Lock: "k", Value: "a", Why: history.FreedOverwritten},
	}, freed)
}

func TestLabels(t *testing.T) {
	tests := map[string]interface{ Label() string }{
		"SET": &Set{}, "GET": &Get{}, "DEL": &Del{}, "DELEX": &DelIfEqual{}, "PEXPIRE": &ExpireIfEqual{}, "PTTL": &PTTL{},
		"EVAL": &SetIncr{}, "INCR": &Incr{}, "WAIT": &Wait{}, "PSYNC": &psync{}, "FULLRESYNC": &fullSync{},
		"REPLCONF GETACK": &getAck{}, "REPLCONF ACK": &ack{},
		"OK": Status(true), "nil": Bulk{}, "-2": Integer(-2), "v": Bulk{"v", true}, "PEXPIREAT": &change{write: write{kind: writeExpire}},
	}
	for want, body := range tests {
		require.Equal(t, want, body.Label())
	}
	require.Equal(t, "nil", Status(false).Label())
	require.Equal(t, "SET", (&Put{}).Label())
	require.Equal(t, "PEXPIRE", (&PExpire{}).Label())
	require.Equal(t, "EVAL", (&ExpireOrSet{}).Label())
}

func TestUnknownCommand(t *testing.T) {
	onNode(t, Config{}, func(p *sim.Process, s *sim.Server) {
		require.EqualError(t, ask[error](p, s, "FLUSHALL"), "redis: r1 does not know the command string")
	})
}

// The commands that reach miniredis carry their TTLs, though nothing here goes by
// them.
func TestEngine(t *testing.T) {
	e := newEngine()
	pttl := func() string {
		e.args = append(e.args[:0], "PTTL", "k")
		return string(e.run())
	}
	require.True(t, e.setNX("k", "v", 1500*hop))
	require.Equal(t, ":1500\r\n", pttl())
	require.False(t, e.setNX("k", "w", time.Hour))
	require.True(t, e.expire("k", 2500*hop))
	require.Equal(t, ":2500\r\n", pttl())
	e.args = append(e.args[:0], "LPUSH", "k", "x")
	require.Panics(t, func() { e.run() }, "an error is a mistake of this package")
}
