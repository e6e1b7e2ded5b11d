/* Trap 27: one section of code, so that a plain address can only mean one place. */
int only_one(int n)
{
    return n + 1;
}
