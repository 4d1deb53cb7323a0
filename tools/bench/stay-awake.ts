/**
 * Keeps this process from sleeping until the returned function is called. A sleeping peer is woken by whoever writes to
 * it, and on a virtual machine that takes 7 µs of the writer's time: measured, a third of a fast proxy's CPU per call. A
 * slow server, whose peers sleep more, paid it more often. Across a network nobody pays it.
 */
export function stayAwake(): () => void {
  let awake = true;
  const turn = () => {
    if (awake) setImmediate(turn);
  };
  turn();
  return () => {
    awake = false;
  };
}
