/* An image with everything that an image may have; its linker flags are in conftest.py. */
extern long kal_write(long, const void *, long);
extern long kal_option(long) __attribute__((weak));

static int hidden[80];
volatile int shown = 5;
int zeroed[100];
volatile int *absolute = &shown;
static int *relative[80] = {
#define P(i) &hidden[i], &hidden[i + 1], &hidden[i + 2], &hidden[i + 3], &hidden[i + 4]
#define Q(i) P(i), P(i + 5), P(i + 10), P(i + 15)
    Q(0), Q(20), Q(40), Q(60)
};
/* At an odd address, where RELR cannot reach. */
static volatile struct __attribute__((packed)) {
    char pad;
    int *pointer;
} odd = {1, &hidden[7]};
long (*imported)(long, const void *, long) = kal_write;

__attribute__((constructor)) static void before(void) { shown++; }
__attribute__((destructor)) static void after(void) { shown--; }
void initial(void) { shown += 2; }
void final(void) { shown -= 2; }

int _start(void)
{
    if (kal_option)
        kal_option(1);
    return (int)kal_write(*relative[shown], "", *odd.pointer) + *absolute + zeroed[3];
}
