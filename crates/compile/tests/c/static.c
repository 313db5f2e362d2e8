/* Calls the entries of two units of one static program. */
#include <precast/module.h>
#include <stdio.h>

extern const pc_entry FIRST, SECOND;

int main(void) {
  double x = 1, y[2];
  pc_object *first[] = {(pc_object *)&x, (pc_object *)&y[0]}, *second[] = {(pc_object *)&x, (pc_object *)&y[1]};
  if (FIRST.run(NULL, NULL, first) != 0 || SECOND.run(NULL, NULL, second) != 0) return 1;
  printf("%g %g\n", y[0], y[1]);
  return 0;
}
