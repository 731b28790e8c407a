/* lock.c for SPIN, with N 4. */
byte level[4];
byte last[4];
byte inside;

#define FAR(i) (_pid == i || level[i] < gate)
#define MAY_PASS (last[gate] != _pid || (FAR(0) && FAR(1) && FAR(2) && FAR(3)))

#ifdef BROKEN
#define FIRST last[gate] = _pid
#define THEN level[_pid] = gate
#else
#define FIRST level[_pid] = gate
#define THEN last[gate] = _pid
#endif

active [4] proctype process() {
    byte gate;
begin:
    atomic { gate++; FIRST };
    THEN;
    if
    :: d_step { MAY_PASS && gate < 3 -> skip }; goto begin
    :: d_step { MAY_PASS && gate == 3 -> inside++; assert(inside == 1) }
    fi;
    d_step { level[_pid] = 0; gate = 0; inside-- };
    goto begin
}
