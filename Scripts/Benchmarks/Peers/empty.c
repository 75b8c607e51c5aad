// The least that a process can take.

int main(void) { return 0; }
