/* puzzle.c for SPIN: board[gap] is 0. The first step fills the board. */
byte board[9];
byte gap;

active proctype slide() {
    d_step {
        board[0] = 1; board[1] = 2; board[2] = 3;
        board[3] = 4; board[4] = 5; board[5] = 6;
        board[6] = 7; board[7] = 8; gap = 8
    }
    do
    :: d_step { gap >= 3 -> board[gap] = board[gap - 3]; gap = gap - 3;
                board[gap] = 0 }
    :: d_step { gap % 3 > 0 -> board[gap] = board[gap - 1]; gap--;
                board[gap] = 0 }
    :: d_step { gap % 3 < 2 -> board[gap] = board[gap + 1]; gap++;
                board[gap] = 0 }
    :: d_step { gap < 6 -> board[gap] = board[gap + 3]; gap = gap + 3;
                board[gap] = 0 }
    od
}
