/* grid/rows.h: copies rows whose elements have any steps. A part of template.h. */

/* Copies rows of `bytes` each, at least 16, which are contiguous on both sides. */
PC_COPY void pc_grid_rows_long(const int64_t bytes, int64_t rows, char *to, int64_t to_step, const char *from, int64_t step) {
  for (; rows > 0; rows--, to += to_step, from += step) {
    #pragma GCC unroll 4
    for (int64_t i = 0; i + 16 <= bytes; i += 16) *(pc_two *)(to + i) = *(const pc_two *)(from + i);
    if (bytes % 16 != 0) *(pc_two *)(to + bytes - 16) = *(const pc_two *)(from + bytes - 16);
  }
}

/* Does the same for rows of at least one vector. */
PC_COPY void pc_grid_rows_wide(int64_t bytes, int64_t rows, char *to, int64_t to_step, const char *from, int64_t step) {
  for (; rows > 0; rows--, to += to_step, from += step) {
    #pragma GCC unroll 4
    for (int64_t i = 0; i + PC_WIDE_BYTES <= bytes; i += PC_WIDE_BYTES) *(pc_wide *)(to + i) = *(const pc_wide *)(from + i);
    if (bytes % PC_WIDE_BYTES != 0) *(pc_wide *)(to + bytes - PC_WIDE_BYTES) = *(const pc_wide *)(from + bytes - PC_WIDE_BYTES);
  }
}

/* Copies rows shorter than a vector to a block, by a vector each. The next row overwrites the bytes of such a vector behind its row. No
 * vector reaches beyond the last row, on either side, so the last rows are left. Returns how many rows are copied. */
PC_COPY int64_t pc_grid_rows_short(int64_t bytes, int64_t rows, char *to, const char *from, int64_t step) {
  int64_t done = 0;
  if (step < bytes || step > PC_GRID_NEAR_BYTES) return 0;
  for (; done * bytes + PC_WIDE_BYTES <= rows * bytes; done++, to += bytes, from += step) *(pc_wide *)to = *(const pc_wide *)from;
  return done;
}

/* Copies rows of `bytes` each, which are contiguous on both sides. */
PC_COPY void pc_grid_rows(int64_t bytes, int64_t rows, char *to, int64_t to_step, const char *from, int64_t step) {
  if (bytes > 1024) {
    for (; rows > 0; rows--, to += to_step, from += step) __builtin_memcpy(to, from, (size_t)bytes);
    return;
  }
  if (bytes == PC_WIDE_BYTES) return pc_grid_rows_wide(PC_WIDE_BYTES, rows, to, to_step, from, step);
  if (bytes > PC_WIDE_BYTES) return pc_grid_rows_wide(bytes, rows, to, to_step, from, step);
  if (PC_WIDE_BYTES > 16 && bytes > 16 && to_step == bytes) {
    const int64_t done = pc_grid_rows_short(bytes, rows, to, from, step);
    rows -= done;
    to += done * to_step;
    from += done * step;
  }
  switch (bytes) {
  case 16: return pc_grid_rows_long(16, rows, to, to_step, from, step);
  case 24: return pc_grid_rows_long(24, rows, to, to_step, from, step);
  case 32: return pc_grid_rows_long(32, rows, to, to_step, from, step);
  case 40: return pc_grid_rows_long(40, rows, to, to_step, from, step);
  default: break;
  }
  if (bytes >= 16) {
    pc_grid_rows_long(bytes, rows, to, to_step, from, step);
  } else if (bytes >= 8) {
    for (; rows > 0; rows--, to += to_step, from += step) {
      *(pc_eight_bytes *)to = *(const pc_eight_bytes *)from;
      *(pc_eight_bytes *)(to + bytes - 8) = *(const pc_eight_bytes *)(from + bytes - 8);
    }
  } else if (bytes >= 4) {
    for (; rows > 0; rows--, to += to_step, from += step) {
      *(pc_four_bytes *)to = *(const pc_four_bytes *)from;
      *(pc_four_bytes *)(to + bytes - 4) = *(const pc_four_bytes *)(from + bytes - 4);
    }
  } else {
    for (; rows > 0; rows--, to += to_step, from += step) {
      for (int64_t i = 0; i < bytes; i++) to[i] = from[i];
    }
  }
}

/* Copies row 0 of the block to those after it. */
PC_TARGET static void pc_grid_again(char *block, int64_t bytes, int64_t rows) {
  for (int64_t done = 1; done < rows; done *= 2) {
    int64_t more = rows - done < done ? rows - done : done;
    __builtin_memcpy(block + done * bytes, block, (size_t)(more * bytes));
  }
}

/* Copies elements of one row, `step` bytes apart, to the block: of 4 or 8 bytes by vectors. */
PC_COPY void pc_grid_gather_row(int item, int64_t columns, char *block, const char *from, int64_t step) {
  int64_t j = 0;
  if (item == 4 || item == 8) {
    for (; j + PC_WIDE_BYTES / item <= columns; j += PC_WIDE_BYTES / item, block += PC_WIDE_BYTES, from += PC_WIDE_BYTES / item * step) {
      *(pc_wide *)block = pc_grid_apart(item, from, step);
    }
  }
  if (item == 8) {
    for (; j + 2 <= columns; j += 2, block += 16, from += 2 * step) {
      *(pc_two *)block = (pc_two){*(const pc_eight_bytes *)from, *(const pc_eight_bytes *)(from + step)};
    }
  }
  for (; j < columns; j++, block += item, from += step) pc_grid_element(item, block, from);
}

/* Copies rows whose elements lie in any steps: of rows shorter than a vector, as many at once as a vector has elements of 4 or 8 bytes. */
PC_COPY void pc_grid_gather_rows(int item, const pc_grid *g, char *block) {
  const int64_t lanes = PC_WIDE_BYTES / item, columns = g->columns;
  const char *at = g->at;
  int64_t i = 0;
  if (PC_WIDE_BYTES > 16 && (item == 4 || item == 8) && columns < lanes && columns <= 8 && g->rows >= 2 * lanes) {
    int64_t offset[8 * PC_WIDE_BYTES / 4], *next = offset;
    for (int64_t r = 0; r < lanes; r++) {
      for (int64_t j = 0; j < columns; j++) *next++ = r * g->row + j * g->column;
    }
    for (; i + lanes <= g->rows; i += lanes, at += lanes * g->row) {
      for (const int64_t *of = offset; of < next; of += lanes, block += PC_WIDE_BYTES) {
#define PC_OF_8(I) *(const pc_eight_bytes *)(at + of[I])
#define PC_OF_4(I) *(const pc_four_bytes *)(at + of[I])
        *(pc_wide *)block = item == 8 ? (pc_wide){PC_LANES_8(PC_OF_8)} : (pc_wide)(pc_wide_fours){PC_LANES_4(PC_OF_4)};
#undef PC_OF_8
#undef PC_OF_4
      }
    }
  }
  for (; i < g->rows; i++, at += g->row, block += columns * item) pc_grid_gather_row(item, columns, block, at, g->column);
}

/* Copies rows that run backwards, of elements of 4 or 8 bytes, and have a vector at least. */
PC_COPY void pc_grid_reverse(int item, const pc_grid *g, char *block) {
  const int64_t lanes = PC_WIDE_BYTES / item, bytes = g->columns * item;
  const char *from = g->at;
  for (int64_t i = 0; i < g->rows; i++, from += g->row, block += bytes) {
    int64_t j = 0;
    for (; j + lanes <= g->columns; j += lanes) *(pc_wide *)(block + j * item) = pc_grid_backwards(item, from - j * item);
    if (j < g->columns) *(pc_wide *)(block + bytes - PC_WIDE_BYTES) = pc_grid_backwards(item, from - bytes + PC_WIDE_BYTES);
  }
}
