import numpy
import pandas


def read_prices(count):
    return pandas.DataFrame({"price": numpy.linspace(1, 100, count), "amount": numpy.arange(count)})


def mean_price(days):
    frames = [read_prices(200_000) for _ in range(days)]
    return sum(frame["price"].mean() for frame in frames) / days


print(mean_price(20))
