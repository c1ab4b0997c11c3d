// The timeline without its drawing.

// The peak came at some moment within the resolution before `at`; on the curve that is where it is
// highest then. Without a point in that time: `at`.
export function peakOnCurve({time_ms: time, heap_bytes: heap}, at, resolution) {
  let best = -1;
  for (let i = 0; i < time.length; ++i) {
    if (Math.abs(time[i] - at) <= resolution && (best < 0 || heap[i] > heap[best])) best = i;
  }
  return best < 0 ? at : time[best];
}
