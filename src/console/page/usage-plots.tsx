/** Requests, money and lateness by the hour, as plots. */
import uPlot from "uplot";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { UsageHour } from "./answers.ts";
import { Empty } from "./parts.tsx";
import "uplot/dist/uPlot.min.css";
import { plotsOf, type Series } from "./usage-data.ts";

const HEIGHT_PX = 180;

export function UsagePlots({ hours }: { readonly hours: readonly UsageHour[] }) {
  const plots = useMemo(() => plotsOf(hours), [hours]);
  if (hours.length === 0) return <Empty title="It has made no request yet." />;
  return (
    <>
      {plots.map((series) => (
        <figure class="panel" key={series.title}>
          <figcaption>
            <h2>{series.title}</h2>
            <span class="muted">{series.summary}</span>
          </figcaption>
          <Plot series={series} />
        </figure>
      ))}
    </>
  );
}

function Plot({ series: { title, summary, times, values } }: { readonly series: Series }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data = (): uPlot.AlignedData => [[...times], [...values]];
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(title, element.clientWidth), data(), element);
    };
    draw();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    resized.observe(element);
    return () => {
      dark.removeEventListener("change", draw);
      resized.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [title]);
  useEffect(() => plot.current?.setData(data()), [times, values]);
  return <div class="plot" ref={place} role="img" aria-label={`${title}: ${summary}`} />;
}

/** Colours come from the style sheet, which knows whether it is dark. */
function optionsOf(title: string, width: number): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
  const bars = uPlot.paths.bars?.({ size: [0.8, 24] });
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: true, live: true },
    cursor: { points: { show: false }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [axis, { ...axis, size: 56 }],
    series: [
      { label: "hour" },
      {
        label: title,
        stroke: colour("--accent"),
        fill: colour("--accent-soft"),
        ...(bars === undefined ? {} : { paths: bars }),
        points: { show: false },
      },
    ],
  };
}
