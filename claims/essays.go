package claims

// kleppmann is the essay of 2016, and the book that came of it.
func kleppmann() Source {
	return Source{"K", `Martin Kleppmann, "How to do distributed locking", 2016`, []Row{
		{"K1", "a lock for efficiency may fail now and then, one for correctness may not"},
		{"K2", "for efficiency one Redis is enough, even with an asynchronous replica"},
		{"K3", "with the best lock service, a file that is read, changed and written back is broken without a token"},
		{"K4", "HBase had this fault; collections have stopped processes for minutes"},
		{"K5", "no check by the client before its write mends it"},
		{"K6", "page faults, network disks, contention and SIGSTOP stop a process too, and packets have been held up for 90 s"},
		{"K7", "a token that rises with each grant, checked by the storage on every access, keeps the late writer out"},
		{"K8", "Redlock has no token: a counter on one node dies with it, several part ways, and it probably takes consensus"},
		{"K9", "safety must not hang on timing, and a lock that is as good as a compare-and-set takes consensus"},
		{"K10", "a clock that jumps on one node lets a second client in"},
		{"K11", "so does a node that crashes without persistence, and a delayed restart itself hangs on a clock"},
		{"K12", "a client that is paused while the replies are on their way reads them when all keys are over"},
		{"K13", "Redlock needs bounds on delays, pauses and clock errors"},
		{"K14", "for correctness take ZooKeeper, or a database with transactions, and fence all access"},
	}}
}

// antirez is the answer of 2016.
func antirez() Source {
	return Source{"A", `Salvatore Sanfilippo (antirez), "Is Redlock safe?", 2016`, []Row{
		{"A1", "every lock has to release itself, and after that it excludes nobody, whoever made it"},
		{"A2", "a store that checks tokens is linearizable, and so could hand them out to users of Redlock"},
		{"A3", "where the store handles the race, a weak lock is enough"},
		{"A4", "put the random value on the data, and write only if it is still there"},
		{"A5", "the order of tokens need not be that in which the work was meant"},
		{"A6", "most resources can check nothing"},
		{"A7", "Redlock needs clocks of about the same rate, within ten per cent; do not step them, and use monotonic ones"},
		{"A8", "time, acquire, time again, and is it over: delay between the two readings does no harm, and after them it hits every lock"},
		{"A9", "every lock that expires should measure so"},
		{"A10", "in the place of a delayed restart a node can sync each write"},
		{"A11", "Redlock should be analysed and tested by others, as Jepsen does"},
	}}
}
