// C++ without its library: an abstract class, an object made before main, and `new` over openkal.memory.
// okld build -std=c++17 -O2 examples/shapes.cpp -o shapes.ok && okrun shapes.ok
#include <openkal/openkal.h>

void* operator new(decltype(sizeof 0) size)
{
    if (void* place = kal_alloc(size, alignof(kal_u64)))
        return place;
    kal_abort("no memory", 9);
}

void operator delete(void* place, decltype(sizeof 0) size) noexcept
{
    kal_free(place, size, alignof(kal_u64));
}

void operator delete(void*) noexcept // kal_free wants the size, and every delete here knows it
{
    kal_abort("delete without a size", 21);
}

struct Shape {
    virtual ~Shape() = default;
    virtual unsigned area() const = 0;
};

struct Square : Shape {
    unsigned side;

    explicit Square(unsigned length) : side(length) {}
    unsigned area() const override { return side * side; }
};

struct Output {
    kal_stream stream = kal_stdout();

    void say(unsigned number) const
    {
        char text[16];
        kal_uintptr at = sizeof text;

        text[--at] = '\n';
        do
            text[--at] = static_cast<char>('0' + number % 10);
        while (number /= 10);
        kal_stream_write(stream, text + at, sizeof text - at);
    }
};

static const Output out;

int main()
{
    const Shape* shape = new Square(12);

    out.say(shape->area());
    delete shape;
    return 0;
}
