/* status N: says "ran", and returns N. */
#include "text.h"

int main(int argc, char** argv)
{
    int status = 0;

    say("ran\n");
    if (argc > 1) {
        for (const char* digit = argv[1]; *digit; digit++)
            status = status * 10 + *digit - '0';
    }
    return status;
}
