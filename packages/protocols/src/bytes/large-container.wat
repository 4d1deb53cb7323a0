;; Finds the ends of JSON values, thirty-two bytes in a step. The text comes in chunks. Those of an object or array begin outside
;; a string each; what is open is kept from one chunk to the next. `node tools/generate/large-container.ts` compiles it.
(module
  ;; 0: the chunk, and room behind it for the last step's reading · 16384: what is open, a byte per level · 24576: noted strings
  (memory (export "memory") 1 1)
  (global $level (export "level") (mut i32) (i32.const 0))
  (global $noted (export "noted") (mut i32) (i32.const 0))
  (global $lengths (export "lengths") (mut i32) (i32.const 0))
  (global $longerThan (export "longerThan") (mut i32) (i32.const 0))
  (global $mark (export "mark") (mut i32) (i32.const 0))
  (global $depth (export "depth") (mut i32) (i32.const 0))
  ;; Brackets and quotes so far, those of escaped quotes included.
  (global $marks (export "marks") (mut i32) (i32.const 0))

  ;; Takes a bracket. The result is 0, or what `skip` returns: the container has ended, or the bracket does not fit.
  (func $bracket (param $at i32) (result i32)
    (local $kind i32)
    (global.set $marks (i32.add (global.get $marks) (i32.const 1)))
    (local.set $kind (i32.and (i32.load8_u (local.get $at)) (i32.const 0x20)))
    (if (i32.eqz (i32.and (i32.load8_u (local.get $at)) (i32.const 4)))
      (then
        (if (i32.ge_u (global.get $level) (global.get $depth))
          (then (return (i32.or (i32.shl (local.get $at) (i32.const 2)) (i32.const 3)))))
        (i32.store8 offset=16384 (global.get $level) (local.get $kind))
        (global.set $level (i32.add (global.get $level) (i32.const 1)))
        (return (i32.const 0))))
    (global.set $level (i32.sub (global.get $level) (i32.const 1)))
    (if (i32.ne (i32.load8_u offset=16384 (global.get $level)) (local.get $kind))
      (then (return (i32.or (i32.shl (local.get $at) (i32.const 2)) (i32.const 2)))))
    (if (result i32) (global.get $level)
      (then (i32.const 0))
      (else (i32.or (i32.shl (i32.add (local.get $at) (i32.const 1)) (i32.const 2)) (i32.const 1)))))

  ;; Notes a string whose length or first byte is looked for. `start` and `end` exclude the quotes.
  (func $note (param $start i32) (param $end i32)
    (local $length i32)
    (local.set $length (i32.sub (local.get $end) (local.get $start)))
    (if (i32.or
          (i32.eq (i32.load8_u (local.get $start)) (global.get $mark))
          (if (result i32) (i32.lt_u (local.get $length) (i32.const 32))
            (then (i32.and (i32.shr_u (global.get $lengths) (local.get $length)) (i32.const 1)))
            (else (i32.gt_u (local.get $length) (global.get $longerThan)))))
      (then
        (i32.store offset=24576 (i32.shl (global.get $noted) (i32.const 3)) (local.get $start))
        (i32.store offset=24580 (i32.shl (global.get $noted) (i32.const 3)) (local.get $end))
        (global.set $noted (i32.add (global.get $noted) (i32.const 1))))))

  ;; Goes on through a chunk. The result is a position times four, plus
  ;; 0: go on there, behind the chunk or at a string that does not end in it · 1: the container ends before it
  ;; 2: a bracket there closes what another kind has opened · 3: a bracket there opens one level too many
  (func (export "skip") (param $length i32) (param $isWatched i32) (result i32)
    (local $at i32) (local $stop i32) (local $open i32) (local $byte i32) (local $code i32)
    (local $quotes i32) (local $slashes i32) (local $brackets i32) (local $strings i32) (local $bit i32)
    (local $in i32) ;; -1 inside a string, else 0
    (local $low v128) (local $high v128)
    (global.set $noted (i32.const 0))
    (block $end
      (loop $step
        (br_if $end (i32.ge_u (local.get $at) (local.get $length)))
        (local.set $low (v128.load (local.get $at)))
        (local.set $high (v128.load offset=16 (local.get $at)))
        (local.set $quotes
          (i32.or
            (i8x16.bitmask (i8x16.eq (local.get $low) (i8x16.splat (i32.const 0x22))))
            (i32.shl (i8x16.bitmask (i8x16.eq (local.get $high) (i8x16.splat (i32.const 0x22)))) (i32.const 16))))
        (local.set $slashes
          (i32.or
            (i8x16.bitmask (i8x16.eq (local.get $low) (i8x16.splat (i32.const 0x5c))))
            (i32.shl (i8x16.bitmask (i8x16.eq (local.get $high) (i8x16.splat (i32.const 0x5c)))) (i32.const 16))))
        ;; In ASCII the brackets are 0x5b and 0x5d, with 0x20 added or not.
        (local.set $low (v128.or (local.get $low) (i8x16.splat (i32.const 0x20))))
        (local.set $high (v128.or (local.get $high) (i8x16.splat (i32.const 0x20))))
        (local.set $brackets
          (i32.or
            (i8x16.bitmask
              (v128.or
                (i8x16.eq (local.get $low) (i8x16.splat (i32.const 0x7b)))
                (i8x16.eq (local.get $low) (i8x16.splat (i32.const 0x7d)))))
            (i32.shl
              (i8x16.bitmask
                (v128.or
                  (i8x16.eq (local.get $high) (i8x16.splat (i32.const 0x7b)))
                  (i8x16.eq (local.get $high) (i8x16.splat (i32.const 0x7d)))))
              (i32.const 16))))
        ;; Behind the end of the chunk is what an earlier one left.
        (local.set $stop (i32.add (local.get $at) (i32.const 32)))
        (if (i32.gt_u (local.get $stop) (local.get $length))
          (then
            (local.set $stop (local.get $length))
            (local.set $bit
              (i32.sub (i32.shl (i32.const 1) (i32.sub (local.get $length) (local.get $at))) (i32.const 1)))
            (local.set $quotes (i32.and (local.get $quotes) (local.get $bit)))
            (local.set $slashes (i32.and (local.get $slashes) (local.get $bit)))
            (local.set $brackets (i32.and (local.get $brackets) (local.get $bit)))))
        (global.set $marks (i32.add (global.get $marks) (i32.popcnt (local.get $quotes))))
        (if (i32.and (i32.ne (local.get $slashes) (i32.const 0)) (i32.ne (local.get $quotes) (i32.const 0)))
          (then
            ;; Quotes that may be escaped are read one by one.
            (loop $byByte
              (local.set $byte (i32.load8_u (local.get $at)))
              (if (local.get $in)
                (then
                  (if (i32.eq (local.get $byte) (i32.const 0x5c))
                    (then (local.set $at (i32.add (local.get $at) (i32.const 1)))))
                  (if (i32.eq (local.get $byte) (i32.const 0x22))
                    (then
                      (local.set $in (i32.const 0))
                      (if (local.get $isWatched)
                        (then (call $note (i32.add (local.get $open) (i32.const 1)) (local.get $at)))))))
                (else
                  (if (i32.eq (local.get $byte) (i32.const 0x22))
                    (then
                      (local.set $in (i32.const -1))
                      (local.set $open (local.get $at))))
                  (if (i32.or
                        (i32.eq (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x7b))
                        (i32.eq (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x7d)))
                    (then
                      (local.set $code (call $bracket (local.get $at)))
                      (if (local.get $code) (then (return (local.get $code))))))))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (br_if $byByte (i32.lt_u (local.get $at) (local.get $stop))))
            (br $step)))
        ;; Each bit from an opening quote to the one before its closing quote.
        (local.set $strings (i32.xor (local.get $quotes) (i32.shl (local.get $quotes) (i32.const 1))))
        (local.set $strings (i32.xor (local.get $strings) (i32.shl (local.get $strings) (i32.const 2))))
        (local.set $strings (i32.xor (local.get $strings) (i32.shl (local.get $strings) (i32.const 4))))
        (local.set $strings (i32.xor (local.get $strings) (i32.shl (local.get $strings) (i32.const 8))))
        (local.set $strings (i32.xor (local.get $strings) (i32.shl (local.get $strings) (i32.const 16))))
        (local.set $strings (i32.xor (local.get $strings) (local.get $in)))
        (local.set $brackets (i32.and (local.get $brackets) (i32.xor (local.get $strings) (i32.const -1))))
        ;; An odd number of backslashes at the end of a step inside a string escapes the byte behind it.
        (if (i32.and (local.get $in) (i32.shr_s (local.get $slashes) (i32.const 31)))
          (then
            (local.set $stop
              (i32.add
                (local.get $stop)
                (i32.and (i32.clz (i32.xor (local.get $slashes) (i32.const -1))) (i32.const 1))))))
        (if (local.get $quotes)
          (then
            (if (local.get $isWatched)
              (then
                (loop $each
                  (local.set $bit (i32.add (local.get $at) (i32.ctz (local.get $quotes))))
                  (if (local.get $in)
                    (then (call $note (i32.add (local.get $open) (i32.const 1)) (local.get $bit)))
                    (else (local.set $open (local.get $bit))))
                  (local.set $in (i32.xor (local.get $in) (i32.const -1)))
                  (local.set $quotes
                    (i32.and (local.get $quotes) (i32.sub (local.get $quotes) (i32.const 1))))
                  (br_if $each (local.get $quotes))))
              (else
                ;; If a string is open at the end, its quote was the last one.
                (local.set $open
                  (i32.add (local.get $at) (i32.sub (i32.const 31) (i32.clz (local.get $quotes)))))))))
        (local.set $in (i32.shr_s (local.get $strings) (i32.const 31)))
        (if (local.get $brackets)
          (then
            (loop $each
              (local.set $code (call $bracket (i32.add (local.get $at) (i32.ctz (local.get $brackets)))))
              (if (local.get $code) (then (return (local.get $code))))
              (local.set $brackets
                (i32.and (local.get $brackets) (i32.sub (local.get $brackets) (i32.const 1))))
              (br_if $each (local.get $brackets)))))
        (local.set $at (local.get $stop))
        (br $step)))
    (i32.shl
      (select (local.get $open) (local.get $length) (local.get $in))
      (i32.const 2)))

  ;; 1 where the byte behind the chunk at hand is escaped by the last one of it.
  (global $escaped (export "escaped") (mut i32) (i32.const 0))

  ;; Goes on inside a string. The result is the position of the quote that closes it, or the length where there is none. All
  ;; chunks but the last one of a text are whole steps. Backslashes are paired by a subtraction that borrows over each row of
  ;; them, sixteen pairs at a time.
  (func (export "closingQuote") (param $length i32) (result i32)
    (local $at i32) (local $quotes i32) (local $slashes i32) (local $open i32) (local $codes i32)
    (local $low v128) (local $high v128)
    (loop $step
      (if (i32.ge_u (local.get $at) (local.get $length)) (then (return (local.get $length))))
      (local.set $low (v128.load (local.get $at)))
      (local.set $high (v128.load offset=16 (local.get $at)))
      (local.set $quotes
        (i32.or
          (i8x16.bitmask (i8x16.eq (local.get $low) (i8x16.splat (i32.const 0x22))))
          (i32.shl (i8x16.bitmask (i8x16.eq (local.get $high) (i8x16.splat (i32.const 0x22)))) (i32.const 16))))
      (local.set $slashes
        (i32.or
          (i8x16.bitmask (i8x16.eq (local.get $low) (i8x16.splat (i32.const 0x5c))))
          (i32.shl (i8x16.bitmask (i8x16.eq (local.get $high) (i8x16.splat (i32.const 0x5c)))) (i32.const 16))))
      ;; Backslashes that are not escaped by the step before, and what they escape.
      (local.set $open (i32.and (local.get $slashes) (i32.xor (global.get $escaped) (i32.const -1))))
      (local.set $codes
        (i32.xor
          (i32.sub
            (i32.or (i32.shl (local.get $open) (i32.const 1)) (i32.const 0xaaaaaaaa))
            (local.get $open))
          (i32.const 0xaaaaaaaa)))
      (local.set $quotes
        (i32.and
          (local.get $quotes)
          (i32.xor
            (i32.xor (local.get $codes) (i32.or (local.get $slashes) (global.get $escaped)))
            (i32.const -1))))
      (global.set $escaped (i32.shr_u (i32.and (local.get $codes) (local.get $slashes)) (i32.const 31)))
      (if (local.get $quotes)
        (then
          (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $quotes))))
          ;; Behind the end of the chunk is what an earlier one left.
          (return (select (local.get $at) (local.get $length) (i32.lt_u (local.get $at) (local.get $length))))))
      (local.set $at (i32.add (local.get $at) (i32.const 32)))
      (br $step))
    (unreachable))

  ;; Tells where a row of white space, or of digits, ends: the length where all of the chunk belongs to it.
  (func (export "rowEnd") (param $length i32) (param $ofDigits i32) (result i32)
    (local $at i32) (local $others i32) (local $bytes v128)
    (loop $step
      (if (i32.ge_u (local.get $at) (local.get $length)) (then (return (local.get $length))))
      (local.set $bytes (v128.load (local.get $at)))
      (local.set $others
        (i32.xor
          (i8x16.bitmask
            (if (result v128) (local.get $ofDigits)
              (then
                (i8x16.lt_u (i8x16.sub (local.get $bytes) (i8x16.splat (i32.const 0x30))) (i8x16.splat (i32.const 10))))
              (else
                (v128.or
                  (v128.or
                    (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x20)))
                    (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x0a))))
                  (v128.or
                    (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x0d)))
                    (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x09))))))))
          (i32.const 0xffff)))
      (if (local.get $others)
        (then
          (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $others))))
          (return (select (local.get $at) (local.get $length) (i32.lt_u (local.get $at) (local.get $length))))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $step))
    (unreachable)))
