// Guava.java - Google's Guava: makes a filter for 2000 keys at 1 % of the lines
// of standard input, or says how many of them it may have. FUNNEL says as what
// a line is taken: text (its bytes in UTF-8), chars (its 16-bit units), int or
// long; and old is text by the first of the two strategies, which Guava still
// reads but makes no more.
//
//     Guava make FUNNEL FILTER    Guava count FUNNEL FILTER
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

public class Guava {
    static <T> BloomFilter<T> read(byte[] bytes, Funnel<T> funnel)
            throws IOException {
        return BloomFilter.readFrom(new ByteArrayInputStream(bytes), funnel);
    }

    static <T> byte[] write(BloomFilter<T> filter) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        filter.writeTo(out);
        return out.toByteArray();
    }

    static <T> void run(String[] args, Funnel<T> funnel, Function<String, T> key,
                        List<String> lines) throws IOException {
        Path path = Path.of(args[2]);
        if (args[0].equals("make")) {
            byte[] empty = write(BloomFilter.create(funnel, 2000, 0.01));
            if (args[1].equals("old"))
                empty[0] = 0;
            BloomFilter<T> filter = read(empty, funnel);
            for (String line : lines)
                filter.put(key.apply(line));
            Files.write(path, write(filter));
            return;
        }
        BloomFilter<T> filter = read(Files.readAllBytes(path), funnel);
        System.out.println(lines.stream().map(key)
                                .filter(filter::mightContain).count());
    }

    public static void main(String[] args) throws IOException {
        List<String> lines = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.UTF_8))
            .lines().collect(Collectors.toList());
        switch (args[1]) {
        case "chars":
            run(args, Funnels.unencodedCharsFunnel(), line -> line, lines);
            break;
        case "int":
            run(args, Funnels.integerFunnel(), Integer::valueOf, lines);
            break;
        case "long":
            run(args, Funnels.longFunnel(), Long::valueOf, lines);
            break;
        default:
            run(args, Funnels.stringFunnel(StandardCharsets.UTF_8),
                line -> line, lines);
        }
    }
}
