import HeartwoodS3
import HeartwoodTool

HeartwoodTool.main { try S3Destination(url: $0) }
