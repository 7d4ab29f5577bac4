from noisewright.learn.naive_bayes import NaiveBayes as NaiveBayes
