/* Values that a caller cannot know. */
#ifndef MODE_H
#define MODE_H
enum { MODE_DOWN = 70, MODE_UP = 35 };
#endif
