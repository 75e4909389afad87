/** Open pages of the console, in a process of their own: each follows the changes and reads the first view again at each, as the page does. */
const { url, token, count } = JSON.parse(process.argv[2]);

/** Of the page: the pause after a read that took so long. */
const PAUSE_MS = 250;
let reads = 0;
let changes = 0;

const login = await fetch(`${url}/api/session`, {
  method: "POST",
  headers: { "content-type": "application/json", origin: url },
  body: JSON.stringify({ token }),
});
if (!login.ok) throw new Error(`the console refused the login: ${login.status} ${await login.text()}`);
const cookie = login.headers.get("set-cookie").split(";")[0];

async function readAgain(viewer) {
  if (viewer.state !== "idle") return void (viewer.state = "again");
  viewer.state = "busy";
  const answer = await fetch(`${url}/api/needs`, { headers: { cookie } });
  await answer.text();
  if (!answer.ok) throw new Error(`the console refused a read: ${answer.status}`);
  reads++;
  setTimeout(() => {
    const again = viewer.state === "again";
    viewer.state = "idle";
    if (again) void readAgain(viewer);
  }, PAUSE_MS);
}

async function view() {
  const viewer = { state: "idle" };
  const stream = await fetch(`${url}/api/live`, { headers: { cookie, accept: "text/event-stream" } });
  if (!stream.ok) throw new Error(`the console refused a stream: ${stream.status} ${await stream.text()}`);
  void readAgain(viewer);
  void (async () => {
    for await (const piece of stream.body.pipeThrough(new TextDecoderStream())) {
      changes += piece.split("event: change").length - 1;
      if (piece.includes("event: change")) void readAgain(viewer);
    }
  })();
}

for (let n = 0; n < count; n++) await view();
process.on("message", (question) => {
  if (question === "stop") process.exit(0);
  process.send({ reads, changes });
});
process.on("disconnect", () => process.exit(0));
process.send({ port: 0 });
