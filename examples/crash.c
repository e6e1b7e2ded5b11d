/* Crashes three calls deep, to show what a crash report says.
 * okld build examples/crash.c -o crash.ok && okrun crash.ok */

static void store(volatile int* place)
{
    *place = 1;
}

static void prepare(volatile int* place)
{
    store(place);
}

int main(void)
{
    prepare(0);
    return 0;
}
