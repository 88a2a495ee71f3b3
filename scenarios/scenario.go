package scenarios

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"locksim/trial"
)

// Scenario is one claim that runs. A Scenario has parameters of its own, set
// with [Scenario.Set]; [All] and [Find] make fresh ones each time.
type Scenario struct {
	// Name is how the command line calls it.
	Name string
	// Claim is one line: what it shows.
	Claim string
	// Pair is its place in the argument: the ID of one of [Pairs]; empty for none.
	Pair string
	// Claims are the rows of the claims ledger that it belongs to, such as "S7".
	Claims []string
	// Params are its parameters, in the order in which they are shown.
	Params []Param
	// Spec builds the run from the parameters. [Scenario.SpecFor] is to be run.
	Spec func() trial.Spec
	// Vary, where it is set, changes the spec by choices that hang on the seed.
	Vary func(*trial.Spec, *rand.Rand)
	// Expect derives what must come out of each run from the same parameters; nil
	// where runs differ by their seeds.
	Expect func() Expectation
	// Share derives what must come out of many runs together; nil where every run
	// is judged by itself.
	Share func() Share
	// Control is what is run beside it, for the present parameters.
	Control func() Control
	// Also are variants that the argument shows beside it, where its runs are judged
	// by themselves: settings, each "key=value", with blanks between.
	Also []string
	// Case is what it says besides as a failure from the field; nil where it is none.
	Case *Case
}

// Control is another run that differs in what decides the verdict: a scenario
// with the parameters that both share, and then the settings, each "key=value".
type Control struct {
	Name string
	Set  []string
}

// turned is the control of a scenario in which value, that of the parameter key,
// is b where it is a, and else a.
func turned(name, key, value, a, b string) Control {
	if value == a {
		return Control{name, []string{key + "=" + b}}
	}
	return Control{name, []string{key + "=" + a}}
}

// All makes every scenario, in the order in which they are listed.
func All() []*Scenario {
	return []*Scenario{
		gcPause(),
		fencing(),
		gcPauseCAS(),
		noLock(),
		gcPauseRedis(),
		checkThenWrite(),
		watchdog(),
		redlockExtend(),
		redlockExtendCap(),
		plainDel(),
		getThenDel(),
		demo("demo-c1"),
		demo("demo-c2"),
		lateWrite(),
		fenceOnWritesOnly(),
		stolenMark(),
		casBlindWrite(),
		conditional("read-modify-write"),
		conditional("s3-if-match"),
		aba(),
		apiUnfenced(),
		secondWrite(),
		tornCheck(),
		twoStores(),
		twoStoresCrash(),
		versionEquality(),
		redlockRestart("redlock-restart"),
		redlockRestart("redlock-restart-fsync"),
		redlockRestart("redlock-restart-delayed"),
		redlockHeld(),
		majorityCrash(),
		expiryWhileOff(),
		redlockDelayedJump(),
		clockJump(),
		redlockOffset(),
		redlockClockJump("redlock-clock-jump"),
		redlockClockJump("redlock-clock-jump-monotonic"),
		redlockGCInFlight(),
		gcInFlightRedis(),
		redlockSends(),
		nodeTimeout(),
		redlockCleanup(),
		redlockSuspended(),
		redlockSteppedBack(),
		redlockLateReply(),
		redlockGCAfterGrant(),
		setThenIncr(),
		redlockIncr(),
		counterLost(),
		lateMint(),
		redlockMint(),
		redlockDrift("redlock-drift"),
		redlockDrift("redlock-drift-ppm"),
		serverDown(),
		holderDies(),
		partitionedHolder(),
		replicaRead(),
		replicaClock(),
		replicaExpiry(),
		asyncFailover(),
		waitFailover(),
		failoverOdds(),
		lockMessages(),
		waitNoConsensus(),
		syncToAll("sync-to-all"),
		syncToAll("sync-all-replica-down"),
		minReplicas(),
		splitVote(),
		lockStep(),
		jittered(),
		everysecPowerLoss(),
		fsyncPrice(),
		pauseOdds(),
		jobAfterRelease(),
		localLock(),
		quorumDuplicateToken(),
		quorumPartialWrite(),
		quorumNewThenOld(),
		quorumClockSkew(),
		quorumLock(),
		leaderlessFence(),
		invoices("invoices"),
		invoices("invoices-locked"),
		zookeeperGCPause(),
		zookeeperLeaderCrash(),
		zookeeperFollowerDies(),
		zookeeperSuspended(),
		zookeeperLostReply(),
		zookeeperOrphan(),
		zookeeperHerd(),
		zookeeperStaleRead(),
		zookeeperSequence(),
		zookeeperRandomToken(),
		consulLockDelay(),
		consulSessionEnd(),
		consulLockIndex(),
		consulLeaderCrash(),
		etcdGCPause(),
		etcdLeaderCrash(),
		etcdWaiterExpired(),
		etcdCutHolder(),
		etcdSessionKept(),
		etcdHerd(),
		etcdStaleRead(),
		etcdOwnKeys(),
		etcdLeaseMinimum(),
		etcdPausedLeader(),
		etcdJepsen(),
		etcdSkewed(),
		etcdClockStep(),
		kubernetesClock(),
		kubernetesRate(),
		kubernetesRelease(),
		chubbyLate("chubby-sequencer"),
		chubbyLate("chubby-lock-delay"),
		chubbyJeopardy(),
		matrix(),
		groupSizes(),
		moreNodes(),
		twoPhase(),
		fixedTimeouts(),
		leaderCrash(),
		unsyncedLog(),
		voteByLength(),
		staleLeader(),
		logToken(),
		silentSession(),
		serviceQueue(),
		leaseTable(),
		leaseRace(),
		leaseStaleID(),
		leaseRelease(),
		leaseAppClock(),
		leaseDBJump(),
		leaseTimeZone(),
		leaseNow(),
		leaseFailover(),
		heartbeatLost(),
		advisoryCut(),
		getLock(),
		advisoryLevel(),
		poolUnpinned(),
		pgBouncer(),
		galera(),
		sqlDeadlock(),
		claimRow(),
		splitQueue(),
		sameDatabase(),
		jobRuns(),
		redelivery(),
		apiRetry(),
		dailyJobTwice(),
		dateKeyZone(),
		dailyJobCrash(),
		withLock(),
		oppositeOrder(),
		cacheHerd(),
		caseH1(),
		caseH2(),
		caseH3(),
		caseH4(),
		caseH5(),
		caseH6(),
		caseH7(),
		caseH8(),
		caseH9(),
		caseH10(),
		caseH11(),
		caseH12(),
		caseH13(),
		caseH14(),
		caseH15(),
		caseH16(),
		caseH17(),
		caseH18(),
		caseH19(),
		caseH20(),
		caseH21(),
		caseH22(),
	}
}

// Find makes the scenario called name; nil when there is none.
func Find(name string) *Scenario {
	for _, s := range All() {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Set sets a parameter from its text. The error says what is allowed.
func (s *Scenario) Set(key, value string) error {
	if p := s.param(key); p != nil {
		return p.set(value)
	}
	var names []string
	for i := range s.Params {
		names = append(names, s.Params[i].Name)
	}
	return fmt.Errorf("%s has no parameter %q: want one of %s", s.Name, key, strings.Join(names, ", "))
}

// param is the parameter called name; nil when there is none.
func (s *Scenario) param(name string) *Param {
	for i := range s.Params {
		if s.Params[i].Name == name {
			return &s.Params[i]
		}
	}
	return nil
}

// Settings are the parameters that differ from their defaults, as "key=value",
// in the order of Params.
func (s *Scenario) Settings() []string {
	var list []string
	for _, p := range s.Params {
		if v := p.Value(); v != p.Default {
			list = append(list, p.Name+"="+v)
		}
	}
	return list
}

// MakeVariant makes one of the variants in Also: s afresh, with those settings.
func (s *Scenario) MakeVariant(settings string) (*Scenario, error) {
	v := Find(s.Name)
	for _, setting := range strings.Fields(settings) {
		key, value, _ := strings.Cut(setting, "=")
		if err := v.Set(key, value); err != nil {
			return nil, fmt.Errorf("variant of %s: %w", s.Name, err)
		}
	}
	return v, nil
}

// MakeControl makes the scenario that is s's control, with its parameters set.
func (s *Scenario) MakeControl() (*Scenario, error) {
	want := s.Control()
	c := Find(want.Name)
	if c == nil {
		return nil, fmt.Errorf("%s: no control %q", s.Name, want.Name)
	}
	for _, p := range s.Params {
		for _, q := range c.Params {
			if p.Name == q.Name && p.Value() != p.Default {
				if err := q.set(p.Value()); err != nil {
					return nil, fmt.Errorf("control %s: %w", c.Name, err)
				}
			}
		}
	}
	for _, setting := range want.Set {
		key, value, _ := strings.Cut(setting, "=")
		if err := c.Set(key, value); err != nil {
			return nil, fmt.Errorf("control %s: %w", c.Name, err)
		}
	}
	return c, nil
}
