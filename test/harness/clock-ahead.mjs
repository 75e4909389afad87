// Preloaded into a process whose machine's clock is wrong: RETINUE_TEST_AHEAD_MS tells by how much.
const right = Date.now.bind(Date);
const aheadMs = Number(process.env["RETINUE_TEST_AHEAD_MS"] ?? 0);
Date.now = () => right() + aheadMs;
